package dev.isola.store;

import dev.isola.spi.error.SandboxException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** SQLite in a locked folder, with one writer and several readers. */
final class SqliteDatabase implements Database {
  /** Twice what the write-ahead log has before its content is moved and it is used again. */
  private static final long LOG_BYTES = 8 << 20;

  private final FolderLock lock;
  private final SqliteWriter writer;
  private final SqliteReaders readers;
  private final Runnable closer;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SqliteDatabase(
      FolderLock lock, SqliteWriter writer, SqliteReaders readers, Runnable closer) {
    this.lock = lock;
    this.writer = writer;
    this.readers = readers;
    this.closer = closer;
  }

  static SqliteDatabase open(
      Path folder, Duration deadline, Migrations migrations, DiskReserve reserve) {
    FolderLock lock = FolderLock.acquire(folder);
    boolean opened = false;
    try {
      SqliteFile file = new SqliteFile(lock.folder(), deadline);
      while (true) {
        try {
          file.prepare();
          SqliteDatabase database = open(lock, file, deadline, migrations, reserve);
          opened = true;
          return database;
        } catch (SandboxException e) {
          // The log and its index need space, which another process may have taken first.
          if (!reserve.isForFreeingOnly() || !reserve.draw()) {
            throw e;
          }
        }
      }
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  private static SqliteDatabase open(
      FolderLock lock,
      SqliteFile file,
      Duration deadline,
      Migrations migrations,
      DiskReserve reserve) {
    @Nullable Connection connection = null;
    boolean opened = false;
    try {
      connection = file.writer();
      Sql.update(connection, "begin immediate");
      migrations.apply(connection, file.failures().databaseName());
      Sql.update(connection, "commit");
      SqliteReaders readers = new SqliteReaders(file, deadline);
      SqliteWriter writer = new SqliteWriter(connection, file.failures(), deadline, reserve);
      reserve.keepAllocated(file.log(), LOG_BYTES);
      opened = true;
      return new SqliteDatabase(lock, writer, readers, () -> reserve.forget(file.log()));
    } catch (SQLException e) {
      throw file.failures().translate(e, false);
    } finally {
      if (!opened && connection != null) {
        abandon(connection);
      }
    }
  }

  private static void abandon(Connection connection) {
    try {
      // Rolls back an open transaction.
      connection.close();
    } catch (SQLException e) {
      // The original error is the one to report.
    }
  }

  @Override
  public Dialect dialect() {
    return Dialect.SQLITE;
  }

  @Override
  public <T extends @Nullable Object> T read(SqlWork<T> work) {
    return readers.read(work);
  }

  @Override
  public <T extends @Nullable Object> T write(SqlWork<T> work) {
    return writer.write(work);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      closer.run();
      // The writer closes last: the last connection to close checkpoints the write-ahead log.
      try (lock;
          writer;
          readers) {
        return;
      }
    }
  }
}
