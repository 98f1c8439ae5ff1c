package dev.isola.host.image;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.conformance.TemporaryFolder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** An image store in a temporary folder, with methods to inspect it. */
final class ImageFixture implements AutoCloseable {
  static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

  final TemporaryFolder scratch = TemporaryFolder.create("isola-image");
  final Path shared = scratch.path().resolve("data");
  final ImageStore store = new ImageStore(shared, () -> NOW, false);

  Image add(String name, byte[] tar) {
    return add(name, tar, ImageLimits.DEFAULT, false);
  }

  Image add(String name, byte[] tar, ImageLimits limits, boolean replace) {
    return store.add(
        name,
        ImageSource.tar(new ByteArrayInputStream(tar), "a test"),
        new ImageStore.AddOptions(limits, replace, line -> {}));
  }

  Image add(String name, ImageSource source) {
    return store.add(name, source, ImageStore.AddOptions.DEFAULT);
  }

  /** Returns everything next to the images' folders; empty if nothing was left behind. */
  List<String> leftovers() {
    Path images = shared.resolve("images");
    if (!Files.exists(images)) {
      return List.of();
    }
    return names(images).stream().filter(name -> name.startsWith(".")).toList();
  }

  static List<String> names(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.map(path -> path.getFileName().toString()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String text(Image image, String path) throws IOException {
    return Files.readString(image.rootfs().resolve(path));
  }

  static boolean exists(Image image, String path) {
    return Files.exists(image.rootfs().resolve(path), LinkOption.NOFOLLOW_LINKS);
  }

  static int mode(Path path) throws IOException {
    return (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
  }

  static int uid(Path path) throws IOException {
    return (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
  }

  static void needRoot() {
    if (!NativeSystem.isRoot()) {
      abort("NOT RUN: only root may give files to others");
    }
  }

  static void needProgram(String program) {
    if (ExternalTool.find(program).isEmpty()) {
      abort("NOT RUN: " + program + " is not installed");
    }
  }

  /** Runs a program; fails the test unless it succeeds. */
  static String run(Path folder, String... words) {
    try {
      Process process =
          new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true).start();
      String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IllegalStateException(String.join(" ", words) + ": " + answer);
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    scratch.close();
  }
}
