package dev.isola.snapshot.chunk;

import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on the threads of an executor while the caller continues. The total size of the tasks
 * in progress is limited to a budget, which all users of the executor share. The first failure is
 * reported to the caller, and no task starts after it.
 */
final class BoundedExecutor {
  /** The minimum size counted for a task, because a queued task takes memory itself. */
  private static final int MIN_WEIGHT = 4 << 10;

  /** Longer than any task: a request to a bucket has deadlines of its own. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private final Executor threads;
  private final SharedBudget shared;

  /** What this executor's own tasks have not taken. */
  private final Semaphore left;

  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean abandoned;

  /** A task. It must not wait for another task. */
  @FunctionalInterface
  interface IoTask {
    void run() throws IOException;
  }

  /** The bytes that the tasks of several executors may have in progress. */
  static final class SharedBudget {
    private final int bytes;
    private final Semaphore free;

    SharedBudget(int bytes) {
      this.bytes = bytes;
      this.free = new Semaphore(bytes, true);
    }
  }

  BoundedExecutor(Executor threads, SharedBudget shared) {
    this.threads = threads;
    this.shared = shared;
    this.left = new Semaphore(shared.bytes, true);
  }

  /** Submits a task, blocking until the budget has room for {@code bytes}. */
  void submit(int bytes, IoTask work) throws IOException {
    int weight = Math.clamp(bytes, MIN_WEIGHT, shared.bytes);
    acquire(left, weight);
    try {
      acquire(shared.free, weight);
    } catch (IOException e) {
      left.release(weight);
      throw e;
    }
    try {
      check();
      threads.execute(() -> run(work, weight));
    } catch (RejectedExecutionException e) {
      release(weight);
      throw new IOException("the store is closed", e);
    } catch (IOException | SandboxException e) {
      release(weight);
      throw e;
    }
  }

  private static void acquire(Semaphore from, int weight) throws IOException {
    try {
      if (!from.tryAcquire(weight, TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException("the store did not finish a task within " + TIMEOUT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the store");
    }
  }

  private void release(int weight) {
    shared.free.release(weight);
    left.release(weight);
  }

  private void run(IoTask work, int weight) {
    try {
      if (!abandoned && failure.get() == null) {
        work.run();
      }
    } catch (IOException | RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    } finally {
      release(weight);
    }
  }

  private void check() throws IOException {
    Throwable failed = failure.get();
    if (failed instanceof IOException e) {
      throw e;
    }
    if (failed instanceof SandboxException e) {
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

  /**
   * Prevents further tasks from starting and waits for those in progress, also if the thread is
   * interrupted, because they use what the caller closes next.
   */
  void cancel() throws IOException {
    abandoned = true;
    boolean interrupted = Thread.interrupted();
    try {
      settle();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void settle() throws IOException {
    acquire(left, shared.bytes);
    left.release(shared.bytes);
  }
}
