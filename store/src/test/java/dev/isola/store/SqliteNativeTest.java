package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A killed process leaves nothing in the folder for temporary files. */
class SqliteNativeTest {
  @TempDir Path temporary;
  @TempDir Path data;

  /** Opens a ledger in the given folder and kills itself. */
  public static final class Killed {
    private Killed() {}

    public static void main(String[] args) {
      try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(Path.of(args[0])))) {
        Runtime.getRuntime().halt(ledger.events().last() == 0 ? 7 : 8);
      }
    }
  }

  private int killed(String... options) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + temporary));
    command.addAll(List.of(options));
    command.addAll(
        List.of(
            "-cp", System.getProperty("java.class.path"), Killed.class.getName(), data.toString()));
    Process process = new ProcessBuilder(command).inheritIO().start();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("it does not end");
    }
    return process.exitValue();
  }

  private List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.contains("sqlitejdbc"))
          .toList();
    }
  }

  @Test
  void libraryIsExtractedOnceToTheLedgerFolder() throws IOException, InterruptedException {
    assertThat(killed()).isEqualTo(7);
    assertThat(names(temporary)).isEmpty();
    assertThat(names(data)).containsExactly(System.mapLibraryName("sqlitejdbc"));
    Path library = data.resolve(System.mapLibraryName("sqlitejdbc"));
    Object first = Files.getAttribute(library, "unix:ino");
    assertThat(killed()).isEqualTo(7);
    assertThat(Files.getAttribute(library, "unix:ino")).isEqualTo(first);

    // A damaged library is replaced instead of loaded.
    Files.writeString(library, "nonsense");
    assertThat(killed()).isEqualTo(7);
    assertThat(Files.size(library)).isGreaterThan(100_000);
    assertThat(names(temporary)).isEmpty();
  }

  /** The control: by default the driver leaves the library there. */
  @Test
  void driverAloneLeavesFilesInTheTemporaryFolder() throws IOException, InterruptedException {
    assertThat(killed("-Dorg.sqlite.lib.path=" + temporary.resolve("none"))).isEqualTo(7);
    assertThat(names(temporary)).isNotEmpty();
  }
}
