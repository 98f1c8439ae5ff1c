package dev.isola.link;

import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A connection of the relay process to another host. */
final class HandedConnection {
  private enum State {
    CONNECTING,
    CONNECTED,
    ENDED,
    /** The process is gone. */
    LOST
  }

  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;
  private static final int EHOSTUNREACH = 113;
  private static final int ENETUNREACH = 101;

  private final RelayProcess process;
  private final int id;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private State state = State.CONNECTING;
  private int error;
  private volatile long sent;
  private volatile long received;

  HandedConnection(RelayProcess process, int id) {
    this.process = process;
    this.id = id;
  }

  // Called by the thread that reads reports.

  void connected() {
    change(State.CONNECTED, 0);
  }

  void counted(long sentBytes, long receivedBytes) {
    sent = sentBytes;
    received = receivedBytes;
  }

  void ended(int errorNumber) {
    change(State.ENDED, errorNumber);
  }

  void lost() {
    change(State.LOST, 0);
  }

  private void change(State next, int errorNumber) {
    lock.lock();
    try {
      if (state.compareTo(State.ENDED) < 0) {
        state = next;
        error = errorNumber;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the other host has accepted the connection.
   *
   * @return false if the process is gone
   * @throws IOException if the host did not accept it
   */
  boolean awaitConnected() throws IOException, InterruptedException {
    lock.lockInterruptibly();
    try {
      while (state == State.CONNECTING) {
        changed.await();
      }
      if (state == State.ENDED) {
        throw new IOException(message(error));
      }
      return state == State.CONNECTED;
    } finally {
      lock.unlock();
    }
  }

  private static String message(int error) {
    return switch (error) {
      case ETIMEDOUT -> "no answer in time";
      case ECONNREFUSED -> "Connection refused";
      case EHOSTUNREACH -> "No route to host";
      case ENETUNREACH -> "Network is unreachable";
      default -> "error " + error;
    };
  }

  void awaitEnd() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (state.compareTo(State.ENDED) < 0) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isOver() {
    lock.lock();
    try {
      return state.compareTo(State.ENDED) >= 0;
    } finally {
      lock.unlock();
    }
  }

  long sentBytes() {
    return sent;
  }

  long receivedBytes() {
    return received;
  }

  /** Limits the bytes of all connections of the process. */
  void limit(long bytesPerSecond) {
    process.limit(bytesPerSecond);
  }

  /** Resets both sides. */
  void reset() {
    lock.lock(); // its number is not that of another connection while it is not over
    try {
      if (!isOver()) {
        process.reset(id);
      }
    } finally {
      lock.unlock();
    }
  }
}
