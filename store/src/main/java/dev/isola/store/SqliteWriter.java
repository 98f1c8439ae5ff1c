package dev.isola.store;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.SandboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The single writer of a SQLite file. A dedicated thread takes all queued jobs, runs them in one
 * transaction and then completes them. The jobs share the cost of syncing to disk, and a virtual
 * thread that writes does not pin its carrier in native code.
 */
final class SqliteWriter implements AutoCloseable {
  private static final int MAX_BATCH = 64;
  private static final int MAX_WAITING = 4096;

  private final Connection connection;
  private final SqliteExceptionTranslator failures;
  private final Duration deadline;
  private final DiskReserve reserve;
  private final BlockingQueue<WriteJob<?>> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
  private final Thread thread;
  private volatile boolean closed;

  SqliteWriter(
      Connection connection,
      SqliteExceptionTranslator failures,
      Duration deadline,
      DiskReserve reserve) {
    this.connection = connection;
    this.failures = failures;
    this.deadline = deadline;
    this.reserve = reserve;
    this.thread = Thread.ofPlatform().name("isola-ledger-writer").daemon().start(this::run);
  }

  <T extends @Nullable Object> T write(SqlWork<T> work) {
    if (thread.equals(Thread.currentThread())) {
      // The job would wait for itself.
      throw new IllegalStateException("inside a transaction, use the parts passed to it");
    }
    Deadline end = Deadline.in(deadline);
    WriteJob<T> job = new WriteJob<>(work);
    try {
      if (closed) {
        throw SqlExceptionTranslator.closed(failures.databaseName());
      }
      if (!job.isFreeing() && reserve.isForFreeingOnly()) {
        throw SqlExceptionTranslator.diskFull(failures.databaseName(), null);
      }
      if (!waiting.offer(job, deadline.toNanos(), TimeUnit.NANOSECONDS)) {
        throw SqlExceptionTranslator.deadlineExceeded(failures.databaseName(), deadline, null);
      }
      if (closed && job.abandon()) {
        throw SqlExceptionTranslator.closed(failures.databaseName());
      }
      if (job.await(end.leftNanos())) {
        return job.result();
      }
      throw job.abandon()
          ? SqlExceptionTranslator.deadlineExceeded(failures.databaseName(), deadline, null)
          : SqlExceptionTranslator.outcomeUnknown(failures.databaseName(), null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw job.abandon()
          ? SqlExceptionTranslator.cancelled(failures.databaseName(), e)
          : SqlExceptionTranslator.outcomeUnknown(failures.databaseName(), e);
    }
  }

  private void run() {
    List<WriteJob<?>> batch = new ArrayList<>();
    while (true) {
      try {
        WriteJob<?> first = waiting.poll(closed ? 0 : 100, TimeUnit.MILLISECONDS);
        if (first == null) {
          if (closed) {
            return;
          }
          continue;
        }
        batch.add(first);
        waiting.drainTo(batch, MAX_BATCH - 1);
        batch.removeIf(job -> !job.begin());
        runBatch(batch);
      } catch (InterruptedException e) {
        // Only {@code close} ends this thread.
      } finally {
        batch.clear();
      }
    }
  }

  private void runBatch(List<WriteJob<?>> batch) {
    if (batch.size() > 1 && runTogether(batch)) {
      return;
    }
    batch.forEach(job -> runTogether(List.of(job)));
  }

  /**
   * Runs jobs in one transaction, each in a savepoint, so that a job that throws is rolled back
   * alone. If the database itself fails, everything is rolled back. In that case the method returns
   * false if the jobs should be retried one by one, and fails the job if there is only one. A job
   * that may use the disk reserve is retried while the disk is full and there is some of it.
   */
  private boolean runTogether(List<WriteJob<?>> jobs) {
    boolean committing = false;
    try {
      Sql.update(connection, "begin immediate");
      Failpoint.LEDGER_BEGUN.reach();
      for (WriteJob<?> job : jobs) {
        if (jobs.size() == 1) {
          job.run(connection);
          if (job.hasFailed()) {
            Sql.update(connection, "rollback");
            job.complete();
            return true;
          }
        } else {
          Sql.update(connection, "savepoint job");
          job.run(connection);
          if (job.hasFailed()) {
            Sql.update(connection, "rollback to job");
          }
          Sql.update(connection, "release job");
        }
      }
      committing = true;
      Failpoint.LEDGER_BEFORE_COMMIT.reach();
      Sql.update(connection, "commit");
      Failpoint.LEDGER_AFTER_COMMIT.reach();
      jobs.forEach(WriteJob::complete);
      return true;
    } catch (SQLException e) {
      rollback();
      boolean full = failures.isDiskFull(e);
      if (jobs.size() > 1 && (full || !committing)) {
        return false;
      }
      if (full && jobs.getFirst().isFreeing() && reserve.draw()) {
        return runTogether(jobs);
      }
      SandboxException failure = failures.translate(e, committing);
      jobs.forEach(job -> job.fail(failure));
      return true;
    }
  }

  private void rollback() {
    try {
      Sql.update(connection, "rollback");
    } catch (SQLException e) {
      // SQLite has already rolled back, as it does when the disk is full.
    }
  }

  /** Runs the queued jobs, then closes the connection, unless the disk is full. */
  @Override
  public void close() {
    closed = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    for (WriteJob<?> late : waiting) {
      if (late.begin()) {
        late.fail(SqlExceptionTranslator.closed(failures.databaseName()));
      }
    }
    try {
      // Closing would remove the log and its index, and the next start would need their space. The
      // end of the process closes the files.
      if (!reserve.isForFreeingOnly()) {
        connection.close();
      }
    } catch (SQLException e) {
      throw failures.translate(e, false);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
