package dev.isola.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.spi.error.Forbidden;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.ReadRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a key with scope read may see is decided by where a path leads. */
class ReadableFilesTest {
  @TempDir Path folder;
  private ReadableFiles files;

  @BeforeEach
  void makeLinks() throws IOException {
    Files.createDirectories(folder.resolve("inner"));
    Files.writeString(folder.resolve("note"), "x");
    Files.createSymbolicLink(folder.resolve("processes"), Path.of("/proc"));
    Files.createSymbolicLink(folder.resolve("inner/again"), Path.of("../processes"));
    Files.createSymbolicLink(folder.resolve("environment"), Path.of("/proc/self/environ"));
    Files.createSymbolicLink(folder.resolve("root"), Path.of("/"));
    files = of(Scope.READ);
  }

  /** Links that lead out of the folder are not left to the removal of the folder. */
  @AfterEach
  void removeLinks() throws IOException {
    for (String link : List.of("processes", "inner/again", "environment", "root")) {
      Files.delete(folder.resolve(link));
    }
  }

  private ReadableFiles of(Scope scope) {
    return ReadableFiles.of(Optional.of(ApiKey.token("test", scope)), new LinkedFiles(folder));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/proc/self/environ",
        "//proc/self/environ",
        "/./proc/self/environ",
        "/usr/../proc/self/environ",
        "/proc/self/root/proc/self/environ",
        "environment",
        "processes/self/environ",
        "inner/again/self/environ",
        "inner/../processes/self/environ",
        "root/proc/self/environ",
        "/dev/null",
        "/sys/kernel"
      })
  void pathIntoTheKernelIsRefused(String path) {
    assertThatThrownBy(() -> files.read(path, ReadRange.ALL)).isInstanceOf(Forbidden.class);
    assertThatThrownBy(() -> files.target(path)).isInstanceOf(Forbidden.class);
    assertThatThrownBy(() -> files.list(path, 1)).isInstanceOf(Forbidden.class);
    assertThatThrownBy(() -> files.glob(path, "*")).isInstanceOf(Forbidden.class);
    assertThatThrownBy(() -> files.exportTree(path, List.of())).isInstanceOf(Forbidden.class);
    assertThatThrownBy(() -> files.permitted(path)).isInstanceOf(Forbidden.class);
    assertThat(of(Scope.USE).permitted(path)).as("a key with scope use").isEqualTo(path);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/proc/self/cwd",
        "processes/self/cwd",
        "inner/again/self",
        "processes/",
        "processes/.",
        "root/proc",
        "/proc"
      })
  void metadataOfTheKernelIsRefused(String path) {
    assertThatThrownBy(() -> files.stat(path)).isInstanceOf(Forbidden.class);
  }

  @Test
  void linkItselfAndOrdinaryFilesAreReadable() throws IOException {
    assertThat(files.stat("environment").name()).isEqualTo("environment");
    assertThat(files.stat("/etc").path()).isEqualTo("/etc");
    assertThat(files.read("note", ReadRange.ALL).readAllBytes()).isEqualTo(LinkedFiles.CONTENT);
    assertThat(files.read("inner/../note", ReadRange.ALL).readAllBytes())
        .isEqualTo(LinkedFiles.CONTENT);
    assertThat(files.exportTree(".", List.of()).readAllBytes()).isEqualTo(LinkedFiles.CONTENT);
  }

  /** A client could otherwise read what is beneath /proc from the root on. */
  @ParameterizedTest
  @ValueSource(strings = {"/", "/.", "/usr/..", "root", "root/usr/../"})
  void rootIsListedWithoutWhatIsBeneathTheKernelsFolders(String path) {
    for (Stream<FileInfo> found : List.of(files.list(path, 0), files.glob(path, "**"))) {
      assertThat(found.map(FileInfo::path)).containsExactly("/proc", "/etc/hosts");
    }
    assertThatThrownBy(() -> files.exportTree(path, List.of())).isInstanceOf(Forbidden.class);
    assertThat(of(Scope.USE).list("/", 0).map(FileInfo::path)).contains("/proc/1/environ");
  }
}
