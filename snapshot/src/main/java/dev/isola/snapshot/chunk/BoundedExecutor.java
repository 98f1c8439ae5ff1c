package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on the threads of an executor while the caller continues. The total size of the tasks
 * in progress is limited to a budget. The first failure is reported to the caller, and no task
 * starts after it.
 */
final class BoundedExecutor {
  /** The minimum size counted for a task, because a queued task takes memory itself. */
  private static final int MIN_WEIGHT = 4 << 10;

  private final Executor threads;
  private final int budget;
  private final Semaphore left;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean abandoned;

  /** A task. It must not wait for another task. */
  @FunctionalInterface
  interface IoTask {
    void run() throws IOException;
  }

  BoundedExecutor(Executor threads, int budget) {
    this.threads = threads;
    this.budget = budget;
    this.left = new Semaphore(budget, true);
  }

  /** Submits a task, blocking until the budget has room for {@code bytes}. */
  void submit(int bytes, IoTask work) throws IOException {
    int weight = Math.clamp(bytes, MIN_WEIGHT, budget);
    left.acquireUninterruptibly(weight);
    try {
      check();
      threads.execute(() -> run(work, weight));
    } catch (RejectedExecutionException e) {
      left.release(weight);
      throw new IOException("the store is closed", e);
    } catch (IOException e) {
      left.release(weight);
      throw e;
    }
  }

  private void run(IoTask work, int weight) {
    try {
      if (!abandoned && failure.get() == null) {
        work.run();
      }
    } catch (IOException | RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    } finally {
      left.release(weight);
    }
  }

  private void check() throws IOException {
    Throwable failed = failure.get();
    if (failed instanceof IOException e) {
      throw e;
    }
    if (failed != null) {
      throw new IOException("a background task failed: " + failed, failed);
    }
  }

  /** Waits for all submitted tasks. Their effects are then visible to the caller. */
  void await() throws IOException {
    settle();
    check();
  }

  /** Prevents further tasks from starting and waits for those in progress. */
  void cancel() {
    abandoned = true;
    settle();
  }

  private void settle() {
    left.acquireUninterruptibly(budget);
    left.release(budget);
  }
}
