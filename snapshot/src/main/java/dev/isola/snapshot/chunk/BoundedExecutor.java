package dev.isola.snapshot.chunk;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Work that other threads do for one who goes on meanwhile: only as much of it at once as the
 * budget allows, and whoever waits for it is told the first failure. After a failure nothing more
 * is begun.
 */
final class BoundedExecutor {
  /** What a piece of work weighs at least: it takes some memory to remember it. */
  private static final int LEAST = 4 << 10;

  private final Executor threads;
  private final int budget;
  private final Semaphore left;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean abandoned;

  /** A piece of work; it never waits for another one. */
  @FunctionalInterface
  interface IoTask {
    void run() throws IOException;
  }

  BoundedExecutor(Executor threads, int budget) {
    this.threads = threads;
    this.budget = budget;
    this.left = new Semaphore(budget, true);
  }

  /** Begins a piece of work, once there is room for so many bytes. */
  void submit(int bytes, IoTask work) throws IOException {
    int weight = Math.clamp(bytes, LEAST, budget);
    left.acquireUninterruptibly(weight);
    try {
      check();
      threads.execute(() -> run(work, weight));
    } catch (RejectedExecutionException e) {
      left.release(weight);
      throw new IOException("the store was closed", e);
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
      throw new IOException("a thread of the store failed: " + failed, failed);
    }
  }

  /** Waits until all that was begun is done. What it did is seen by the caller. */
  void await() throws IOException {
    settle();
    check();
  }

  /** Begins nothing more, and waits for the rest. */
  void cancel() {
    abandoned = true;
    settle();
  }

  private void settle() {
    left.acquireUninterruptibly(budget);
    left.release(budget);
  }
}
