package dev.isola.store;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.sqlite.SQLiteConfig;

/**
 * The database file of the ledger. Creates the file, and validates an existing one before any
 * write.
 */
final class SqliteFile {
  static final String NAME = "ledger.db";

  /** "ISOL", the application id in the header of the SQLite file. */
  private static final int APPLICATION_ID = 0x49534f4c;

  private static final int APPLICATION_ID_OFFSET = 68;
  private static final byte[] MAGIC = "SQLite format 3\0".getBytes(US_ASCII);

  private final Path folder;
  private final Path file;
  private final SqliteExceptionTranslator failures;
  private final Duration deadline;

  SqliteFile(Path folder, Duration deadline) {
    this.folder = folder;
    this.file = folder.resolve(NAME);
    this.failures = new SqliteExceptionTranslator(file, deadline);
    this.deadline = deadline;
  }

  /** Returns the write-ahead log, which exists while the database is open. */
  Path log() {
    return file.resolveSibling(NAME + "-wal");
  }

  SqliteExceptionTranslator failures() {
    return failures;
  }

  /**
   * Creates the file or validates the existing one. The caller must hold the lock of the folder.
   */
  void prepare() {
    if (file.toString().contains("?")) {
      // The driver would parse the rest of the path as options.
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the folder of the ledger must not have a ? in its path: " + file.getParent(),
              "use another folder")
          .exception();
    }
    try {
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        check();
      } else {
        create();
      }
    } catch (IOException e) {
      throw SqlExceptionTranslator.unreachable(failures.databaseName(), e.toString(), e);
    } catch (SQLException e) {
      throw failures.translate(e, false);
    }
  }

  /**
   * Opens the write connection, in WAL mode and with commits synced to disk. Statements begin and
   * end transactions, because the driver would otherwise keep one open all the time.
   */
  Connection writer() throws SQLException {
    SQLiteConfig config = config();
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    // Purged data may contain secrets, so it is overwritten instead of only freed.
    config.setPragma(SQLiteConfig.Pragma.SECURE_DELETE, "true");
    config.setJournalSizeLimit(64 << 20);
    // Otherwise a large transaction needs space in the folder for temporary files, too.
    config.setTempStore(SQLiteConfig.TempStore.MEMORY);
    return connect(config, file);
  }

  Connection reader() throws SQLException {
    SQLiteConfig config = config();
    config.setReadOnly(true);
    return connect(config, file);
  }

  private Connection connect(SQLiteConfig config, Path path) throws SQLException {
    try {
      SqliteNative.useFolder(folder);
    } catch (IOException e) {
      throw SqlExceptionTranslator.unreachable(
          failures.databaseName(), "the SQLite library cannot be extracted: " + e, e);
    }
    return config.createConnection("jdbc:sqlite:" + path);
  }

  private SQLiteConfig config() {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout((int) Math.min(deadline.toMillis(), Integer.MAX_VALUE));
    return config;
  }

  /**
   * Creates the file under a temporary name and renames it, so that a file of this name always
   * carries the application id, even after a crash. Only the owner can read it, because specs may
   * contain secrets.
   */
  private void create() throws IOException, SQLException {
    Path draft = file.resolveSibling(NAME + ".new");
    for (String suffix : List.of("", "-journal", "-wal", "-shm")) {
      Files.deleteIfExists(draft.resolveSibling(draft.getFileName() + suffix));
    }
    Files.createFile(
        draft, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try (Connection connection = connect(config(), draft)) {
      Sql.update(connection, "pragma application_id = " + APPLICATION_ID);
    }
    force(draft);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    force(file.toAbsolutePath().getParent());
  }

  private static void force(@org.jspecify.annotations.Nullable Path path) throws IOException {
    if (path != null) {
      try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  private void check() throws IOException, SQLException {
    if (!Files.isRegularFile(file)) {
      throw notALedger("is not a regular file");
    }
    byte[] header = new byte[100];
    int length;
    try (InputStream in = Files.newInputStream(file)) {
      length = in.readNBytes(header, 0, header.length);
    }
    if (!Arrays.equals(
        header, 0, Math.min(length, MAGIC.length), MAGIC, 0, Math.min(length, MAGIC.length))) {
      throw notALedger("is not a SQLite database");
    }
    if (length < header.length) {
      throw failures.damaged("it has only " + length + " bytes", null);
    }
    if (ByteBuffer.wrap(header).getInt(APPLICATION_ID_OFFSET) != APPLICATION_ID) {
      throw notALedger("is a SQLite database of another program");
    }
    checkContent();
  }

  /** Reads the whole file through a read-only connection. */
  private void checkContent() throws SQLException {
    try (Connection connection = reader()) {
      String verdict =
          Sql.one(connection, "pragma quick_check(1)", row -> row.result().getString(1))
              .orElse("no result");
      if (!verdict.equals("ok")) {
        throw failures.damaged(verdict.replaceAll("\\s+", " "), null);
      }
    }
  }

  private SandboxException notALedger(String how) {
    return Fault.of(
            ErrorCode.CONFLICT,
            file + " " + how + ", not a ledger; it is unchanged",
            "move it away, or use another folder")
        .exception();
  }
}
