package dev.isola.compat.mcp;

import dev.isola.server.limit.ByteBudget;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a hosted server that wait for one client. The thread that reads from the server never
 * waits for a client: messages that do not fit are dropped.
 */
final class ClientQueue implements AutoCloseable {
  /** The length of an answer that needs no reservation. */
  private static final int ALLOWANCE = 64 << 10;

  /** A message. */
  static final class Item {
    private final byte[] message;
    private final boolean last;

    private Item(byte[] message, boolean last) {
      this.message = message;
      this.last = last;
    }

    /** Returns the message; empty if the queue ends without an answer. */
    byte[] message() {
      return message;
    }

    /** Returns whether nothing follows. */
    boolean last() {
      return last;
    }
  }

  private final ByteBudget budget;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Item> items = new ArrayDeque<>();
  private long bytes;
  private long reserved;
  private boolean ended;

  ClientQueue(ByteBudget budget) {
    this.budget = budget;
  }

  /** Adds a message. Returns false if it was dropped. */
  boolean offer(byte[] message) {
    lock.lock();
    try {
      if (ended
          || items.size() >= HostingLimits.MAX_QUEUED_MESSAGES
          || bytes + message.length > HostingLimits.MAX_QUEUED_BYTES) {
        return false;
      }
      bytes += message.length;
      add(new Item(message, false));
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Adds the answer. Returns false if there is no memory for it; then there still has to be one.
   * Does nothing if there was one.
   */
  boolean end(byte[] answer) {
    lock.lock();
    try {
      if (ended) {
        return true;
      }
      if (answer.length > ALLOWANCE) {
        if (!budget.tryReserve(answer.length)) {
          return false;
        }
        reserved = answer.length;
      }
      ended = true;
      add(new Item(answer, true));
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the queue without an answer. */
  void end() {
    boolean _ = end(new byte[0]);
  }

  private void add(Item item) {
    items.add(item);
    changed.signalAll();
  }

  /** Waits for the next message; null if there is none within the timeout. */
  @Nullable Item poll(Duration timeout) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = timeout.toNanos();
      while (items.isEmpty()) {
        if (left <= 0) {
          return null;
        }
        left = changed.awaitNanos(left);
      }
      Item item = items.remove();
      if (!item.last()) {
        bytes -= item.message().length;
      }
      return item;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      ended = true;
      items.clear();
      budget.release(reserved);
      reserved = 0;
    } finally {
      lock.unlock();
    }
  }
}
