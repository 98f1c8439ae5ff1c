package dev.isola.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** SQLite in a locked folder, with one writer and several readers. */
final class SqliteDatabase implements Database {
  private final FolderLock lock;
  private final SqliteWriter writer;
  private final SqliteReaders readers;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SqliteDatabase(FolderLock lock, SqliteWriter writer, SqliteReaders readers) {
    this.lock = lock;
    this.writer = writer;
    this.readers = readers;
  }

  static SqliteDatabase open(Path folder, Duration deadline, Migrations migrations) {
    FolderLock lock = FolderLock.acquire(folder);
    boolean opened = false;
    try {
      SqliteFile file = new SqliteFile(lock.folder(), deadline);
      file.prepare();
      SqliteDatabase database = open(lock, file, deadline, migrations);
      opened = true;
      return database;
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  private static SqliteDatabase open(
      FolderLock lock, SqliteFile file, Duration deadline, Migrations migrations) {
    @Nullable Connection connection = null;
    boolean opened = false;
    try {
      connection = file.writer();
      Sql.update(connection, "begin immediate");
      migrations.apply(connection, file.failures().databaseName());
      Sql.update(connection, "commit");
      SqliteReaders readers = new SqliteReaders(file, deadline);
      SqliteWriter writer = new SqliteWriter(connection, file.failures(), deadline);
      opened = true;
      return new SqliteDatabase(lock, writer, readers);
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
      // The writer closes last: the last connection to close checkpoints the write-ahead log.
      try (lock;
          writer;
          readers) {
        return;
      }
    }
  }
}
