package dev.isola.conformance.check;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** A host file that no sandbox may read or change, in a new folder outside all sandboxes. */
final class HostSecret implements AutoCloseable {
  private final String content = "host-secret-" + UUID.randomUUID();
  private final Path folder;
  private final Path file;

  HostSecret() {
    try {
      folder = Files.createTempDirectory("isola-outside").toRealPath();
      file = Files.writeString(folder.resolve("secret"), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String folder() {
    return folder.toString();
  }

  String file() {
    return file.toString();
  }

  /** Returns the content, which must not appear in any result. */
  String content() {
    return content;
  }

  /** Returns a relative path to the file that starts with {@code levels} times {@code ..}. */
  String climbing(int levels) {
    return "../".repeat(levels) + file().substring(1);
  }

  void assertNotIn(String text, String how) {
    if (text.contains(content)) {
      throw new CheckFailed("a file of the host was read " + how + ": " + file);
    }
  }

  void assertNotIn(byte[] bytes, String how) {
    assertNotIn(new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1), how);
  }

  /** Fails if the folder has changed in any way. */
  void assertUnchanged(String how) {
    try (Stream<Path> entries = Files.walk(folder)) {
      Expect.equal(
          List.of(folder, file), entries.sorted().toList(), "the host's folder after " + how);
      Expect.equal(content, Files.readString(file), "the host's file after " + how);
    } catch (IOException | UncheckedIOException e) {
      throw new CheckFailed("the host's folder cannot be read any more after " + how + ": " + e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> entries = Files.walk(folder)) {
      for (Path entry : entries.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
