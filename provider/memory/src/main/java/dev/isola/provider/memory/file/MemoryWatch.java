package dev.isola.provider.memory.file;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** One watch, with a queue that overflows instead of growing. */
final class MemoryWatch implements Watch {
  private static final int MOST = 4096;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<FileChange> queue = new ArrayDeque<>();
  private final String root;
  private final boolean recursive;
  private final Consumer<MemoryWatch> onClose;
  private boolean ended;

  MemoryWatch(String root, boolean recursive, Consumer<MemoryWatch> onClose) {
    this.root = root;
    this.recursive = recursive;
    this.onClose = onClose;
  }

  void tell(FileChange change) {
    lock.lock();
    try {
      if (ended) {
        return;
      }
      if (isGone(change)) {
        queue.add(new FileChange(FileChange.Kind.ROOT_GONE, root, true));
        ended = true;
      } else if (concerns(change.path())) {
        add(change);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void add(FileChange change) {
    if (queue.size() < MOST) {
      queue.add(change);
    } else if (queue.getLast().kind() != FileChange.Kind.OVERFLOW) {
      queue.add(new FileChange(FileChange.Kind.OVERFLOW, root, true));
    }
  }

  private boolean isGone(FileChange change) {
    boolean away =
        switch (change.kind()) {
          case REMOVED, MOVED_FROM -> true;
          case CREATED, MODIFIED, MOVED_TO, ATTRIBUTES, OVERFLOW, ROOT_GONE -> false;
        };
    return away && (root.equals(change.path()) || root.startsWith(change.path() + "/"));
  }

  private boolean concerns(String path) {
    String prefix = root.equals("/") ? root : root + "/";
    return path.length() > prefix.length()
        && path.startsWith(prefix)
        && (recursive || path.indexOf('/', prefix.length()) < 0);
  }

  @Override
  public Optional<FileChange> next(Duration patience) {
    long left = patience.toNanos();
    lock.lock();
    try {
      while (queue.isEmpty() && !ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      return Optional.ofNullable(queue.poll());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "waiting for a change was interrupted",
              "ask again if it was not meant")
          .exception(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean ended() {
    lock.lock();
    try {
      return ended && queue.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    onClose.accept(this);
    lock.lock();
    try {
      ended = true;
      queue.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
