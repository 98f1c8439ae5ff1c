package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged and foreign files are distinguished and left unchanged. */
class SqliteFileTest {
  @TempDir Path folder;
  Path file;

  @BeforeEach
  void nameTheFile() {
    file = folder.resolve(SqliteFile.NAME);
  }

  /** Creates a ledger with data. */
  private void fill() {
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder))) {
      for (int i = 0; i < 300; i++) {
        ledger.settings().put("scope", "name" + i, "value".repeat(20));
      }
    }
  }

  /** Reads the database file and its companion files; valid only while no process has it open. */
  private Map<String, String> content() throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path each : files.toList()) {
        String name = String.valueOf(each.getFileName());
        // The WAL index is not data: SQLite rebuilds it when it is missing.
        if (!name.endsWith("-shm") && !name.equals("ledger.lock") && Files.size(each) > 0) {
          content.put(
              name,
              new String(Files.readAllBytes(each), java.nio.charset.StandardCharsets.ISO_8859_1));
        }
      }
    }
    return content;
  }

  private <E extends SandboxException> void assertRefused(Class<E> type, String message)
      throws IOException {
    Map<String, String> before = content();
    for (int i = 0; i < 2; i++) {
      assertThatExceptionOfType(type)
          .isThrownBy(() -> Ledgers.open(LedgerConfig.sqlite(folder)))
          .withMessageContaining(message)
          .withMessageContaining(file.toString());
    }
    assertThat(content()).isEqualTo(before);
  }

  @Test
  void fileIsReadableByItsOwnerOnly() throws IOException {
    Path inner = folder.resolve("made/here");
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(inner))) {
      ledger.settings().put("a", "b", "c");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(inner)))
          .isEqualTo("rwx------");
      for (String name : new String[] {"ledger.db", "ledger.db-wal", "ledger.lock"}) {
        assertThat(
                PosixFilePermissions.toString(Files.getPosixFilePermissions(inner.resolve(name))))
            .as(name)
            .isEqualTo("rw-------");
      }
    }
  }

  @Test
  void textFileIsRefused() throws IOException {
    Files.writeString(file, "my diary, volume three\n".repeat(100), UTF_8);
    assertRefused(Conflict.class, "not a SQLite database");
  }

  @Test
  void databaseOfAnotherProgramIsRefused() throws IOException, SQLException {
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      Sql.update(other, "create table theirs (a text)");
      Sql.update(other, "insert into theirs values ('precious')");
    }
    assertRefused(Conflict.class, "another program");
  }

  @Test
  void folderOfThatNameIsRefused() throws IOException {
    Files.createDirectory(file);
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(LedgerConfig.sqlite(folder)))
        .withMessageContaining("not a regular file");
  }

  @Test
  void emptyFileIsDamaged() throws IOException {
    Files.createFile(file);
    assertRefused(Internal.class, "only 0 bytes");
  }

  @Test
  void truncatedFileIsDamaged() throws IOException {
    fill();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(channel.size() / 2 + 100);
    }
    assertRefused(Internal.class, "damaged");
  }

  @Test
  void tornPageIsDetectedAnywhere() throws IOException {
    fill();
    byte[] whole = Files.readAllBytes(file);
    int pages = whole.length / 4096;
    int found = 0;
    for (int page = 1; page < pages; page++) {
      byte[] torn = whole.clone();
      for (int i = 0; i < 2048; i++) {
        torn[page * 4096 + i] = (byte) 0xa5;
      }
      Files.write(file, torn);
      Map<String, String> before = content();
      try {
        Ledgers.open(LedgerConfig.sqlite(folder)).close();
      } catch (Internal e) {
        assertThat(e).hasMessageContaining("damaged");
        assertThat(content()).isEqualTo(before);
        found++;
      }
    }
    assertThat(found).isEqualTo(pages - 1);
  }

  @Test
  void tornFileIsLeftWithItsWriteAheadLog() throws IOException {
    Path copy = folder.resolve("copy");
    Files.createDirectory(copy);
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder))) {
      for (int i = 0; i < 300; i++) {
        ledger.settings().put("scope", "name" + i, "value".repeat(20));
      }
      // The state that kill -9 would leave now, copied by another process; see FolderLock.
      copyAside(copy);
    }
    Path torn = copy.resolve("ledger.db-wal");
    byte[] log = Files.readAllBytes(torn);
    assertThat(log).hasSizeGreaterThan(100_000);

    // A log that ends within a write is normal: that write was not acknowledged.
    Files.write(torn, java.util.Arrays.copyOf(log, log.length - 1000));
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(copy))) {
      assertThat(ledger.settings().all("scope")).hasSize(299);
    }

    // A file that no longer matches its log is not.
    Files.write(torn, log);
    Files.write(copy.resolve(SqliteFile.NAME), new byte[] {1, 2, 3});
    assertThatExceptionOfType(SandboxException.class)
        .isThrownBy(() -> Ledgers.open(LedgerConfig.sqlite(copy)));
    assertThat(Files.readAllBytes(torn)).isEqualTo(log);
  }

  private void copyAside(Path copy) throws IOException {
    Process cp =
        new ProcessBuilder("cp", file.toString(), file + "-wal", copy.toString())
            .inheritIO()
            .start();
    assertThat(cp.onExit().join().exitValue()).isZero();
  }

  @Test
  void incompleteFileIsCreatedAgain() throws IOException {
    Files.write(folder.resolve("ledger.db.new"), ByteBuffer.allocate(5000).array());
    Files.writeString(folder.resolve("ledger.db.new-journal"), "half");
    fill();
    assertThat(folder.resolve("ledger.db.new")).doesNotExist();
    assertThat(folder.resolve("ledger.db.new-journal")).doesNotExist();
  }
}
