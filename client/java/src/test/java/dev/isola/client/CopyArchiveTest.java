package dev.isola.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.NotFound;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives of the files that a recipe copies. */
class CopyArchiveTest {
  @TempDir Path folder;

  private void write(String path, String content) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private List<String> names(String from) throws IOException {
    List<String> names = new ArrayList<>();
    try (CopyArchive archive = CopyArchive.pack(folder, from);
        InputStream in = archive.open()) {
      TarReader reader =
          new TarReader(in, (what, about) -> new IllegalStateException(what + about));
      for (Optional<TarEntry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
        names.add(entry.get().path().replaceFirst("/$", "")); // folder names end with a slash
      }
    }
    return names;
  }

  private String hash(String from) throws IOException {
    try (CopyArchive archive = CopyArchive.pack(folder, from)) {
      return archive.sha256();
    }
  }

  @Test
  void archivesAreReproducible() throws Exception {
    write("src/b", "b");
    write("src/a/c", "c");
    String before = hash("src");
    Files.setLastModifiedTime(
        folder.resolve("src/b"), FileTime.from(Instant.parse("2001-01-01T00:00:00Z")));
    assertThat(hash("src")).isEqualTo(before);
    assertThat(hash("./src/")).isEqualTo(before);
    write("other", "not copied");
    assertThat(hash("src")).isEqualTo(before);
    Files.setPosixFilePermissions(
        folder.resolve("src/b"), PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(hash("src")).isNotEqualTo(before);
    try (CopyArchive archive = CopyArchive.pack(folder, ".");
        InputStream in = archive.open()) {
      byte[] bytes = in.readAllBytes();
      assertThat(bytes).hasSize((int) archive.size());
      assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
          .isEqualTo(archive.sha256());
    }
  }

  @Test
  void pathsAndPatternsSelectFiles() throws IOException {
    write("src/main.py", "");
    write("src/deep/more.py", "");
    write("srcs/not", "");
    write("a.txt", "");
    write("b.txt", "");
    write("c.md", "");
    assertThat(names("src")).containsExactly("src", "src/deep", "src/deep/more.py", "src/main.py");
    assertThat(names("src/main.py")).containsExactly("src/main.py");
    assertThat(names("*.txt")).containsExactly("a.txt", "b.txt");
    assertThat(names("[bc].*")).containsExactly("b.txt", "c.md");
    assertThat(names("s?c")).contains("src/deep/more.py").doesNotContain("srcs/not");
    assertThat(names("./.")).contains("a.txt", "srcs/not");
    assertThatExceptionOfType(NotFound.class)
        .isThrownBy(() -> names("nothere"))
        .withMessageContaining("nothere");
  }

  @Test
  void dockerignoreExcludesFiles() throws IOException {
    write(".dockerignore", "# notes\n\n*.log\n/build/\n**/cache\n!keep.log\nsecrets/**\n");
    write("a.log", "");
    write("keep.log", "");
    write("sub/b.log", "");
    write("build/out", "");
    write("x/cache/y", "");
    write("secrets/key", "");
    write("main", "");
    assertThat(names("."))
        .contains("keep.log", "sub/b.log", "main", ".dockerignore")
        .doesNotContain("a.log", "build", "build/out", "x/cache", "x/cache/y", "secrets/key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../secret", "..", "a/../../secret", "/etc/passwd"})
  void pathsOutsideOfTheFolderAreRejected(String from) throws IOException {
    write("a/file", "");
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> names(from))
        .withMessageContaining("outside of the folder");
  }

  @Test
  void linksAreArchivedAndNeverFollowed(@TempDir Path outside) throws IOException {
    Files.writeString(outside.resolve("secret"), "planted-secret");
    write("src/file", "");
    Files.createSymbolicLink(folder.resolve("src/link"), outside);
    try (CopyArchive archive = CopyArchive.pack(folder, ".");
        InputStream in = archive.open()) {
      assertThat(new String(in.readAllBytes(), UTF_8)).doesNotContain("planted-secret");
    }
    assertThat(names(".")).contains("src/link").doesNotContain("src/link/secret");
    assertThatExceptionOfType(NotFound.class).isThrownBy(() -> names("src/link/secret"));
  }
}
