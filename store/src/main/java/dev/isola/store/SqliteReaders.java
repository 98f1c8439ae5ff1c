package dev.isola.store;

import dev.isola.codec.time.Deadline;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.ProgressHandler;

/**
 * A small pool of read connections. In WAL mode readers never block, so reads run on the calling
 * thread.
 */
final class SqliteReaders implements AutoCloseable {
  private static final int COUNT = 4;

  /** The number of virtual machine instructions between two calls of the progress handler. */
  private static final int STEPS = 10_000;

  private final SqliteExceptionTranslator failures;
  private final Duration deadline;
  private final List<Reader> all = new ArrayList<>();
  private final BlockingQueue<Reader> free = new ArrayBlockingQueue<>(COUNT);
  private volatile boolean closed;

  /** A connection that aborts its statement at the deadline. */
  private static final class Reader extends ProgressHandler {
    final Connection connection;
    volatile Deadline end;

    Reader(Connection connection, Deadline end) throws SQLException {
      this.connection = connection;
      this.end = end;
      ProgressHandler.setHandler(connection, STEPS, this);
    }

    @Override
    protected int progress() {
      return end.over() ? 1 : 0;
    }
  }

  SqliteReaders(SqliteFile file, Duration deadline) throws SQLException {
    this.failures = file.failures();
    this.deadline = deadline;
    try {
      for (int i = 0; i < COUNT; i++) {
        Reader reader = new Reader(file.reader(), Deadline.in(deadline));
        all.add(reader);
        free.add(reader);
      }
    } catch (SQLException e) {
      close();
      throw e;
    }
  }

  <T extends @Nullable Object> T read(SqlWork<T> work) {
    Deadline end = Deadline.in(deadline);
    Reader reader = take();
    try {
      reader.end = end;
      return work.run(reader.connection);
    } catch (SQLException e) {
      throw failures.translate(e, false);
    } finally {
      free.add(reader);
    }
  }

  private Reader take() {
    try {
      if (closed) {
        throw SqlExceptionTranslator.closed(failures.databaseName());
      }
      Reader reader = free.poll(deadline.toNanos(), TimeUnit.NANOSECONDS);
      if (reader == null) {
        throw SqlExceptionTranslator.deadlineExceeded(failures.databaseName(), deadline, null);
      }
      if (closed) {
        free.add(reader);
        throw SqlExceptionTranslator.closed(failures.databaseName());
      }
      return reader;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw SqlExceptionTranslator.cancelled(failures.databaseName(), e);
    }
  }

  /** Waits for reads in progress, which have deadlines, and closes all connections. */
  @Override
  public void close() {
    closed = true;
    boolean interrupted = false;
    int open = all.size();
    while (open > 0) {
      try {
        Reader idle = free.poll(deadline.toNanos(), TimeUnit.NANOSECONDS);
        open--;
        if (idle != null) {
          idle.connection.close();
        }
      } catch (SQLException e) {
        throw failures.translate(e, false);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
