package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A queued write and its result. A job either begins or is abandoned by its caller, never both. */
final class WriteJob<T extends @Nullable Object> {
  private enum Stage {
    WAITING,
    BEGUN,
    ABANDONED
  }

  private final SqlWork<T> work;
  private final boolean freeing = DiskReserve.isFreeing();
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
  private final CountDownLatch answered = new CountDownLatch(1);
  private @Nullable T result;
  private @Nullable RuntimeException failure;

  WriteJob(SqlWork<T> work) {
    this.work = work;
  }

  /** Returns whether the work may use the disk reserve. */
  boolean isFreeing() {
    return freeing;
  }

  boolean begin() {
    return stage.compareAndSet(Stage.WAITING, Stage.BEGUN);
  }

  boolean abandon() {
    return stage.compareAndSet(Stage.WAITING, Stage.ABANDONED);
  }

  /** Runs the work, keeping an exception of the work itself for the caller. */
  void run(Connection connection) throws SQLException {
    failure = null;
    try {
      result = work.run(connection);
    } catch (TransactionDatabase.UncheckedSqlException e) {
      throw e.error();
    } catch (RuntimeException e) {
      failure = e;
    } catch (Error e) {
      failure = new IllegalStateException("the work of a transaction failed", e);
    }
  }

  boolean hasFailed() {
    return failure != null;
  }

  /** Wakes the caller. */
  void complete() {
    answered.countDown();
  }

  void fail(RuntimeException why) {
    failure = why;
    complete();
  }

  boolean await(long nanos) throws InterruptedException {
    return answered.await(nanos, TimeUnit.NANOSECONDS);
  }

  /** Returns the result after {@link #await} returned true. */
  @SuppressWarnings("NullAway") // The result is null only if T allows null.
  T result() {
    if (failure != null) {
      throw failure;
    }
    return result;
  }
}
