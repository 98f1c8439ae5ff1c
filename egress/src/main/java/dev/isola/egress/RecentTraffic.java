package dev.isola.egress;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The last denials and ended connections of a sandbox, bounded. */
final class RecentTraffic {
  private static final int KEPT = 100;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Denial> denials = new ArrayDeque<>();
  private final Deque<ConnectionView> connections = new ArrayDeque<>();

  void add(Denial denial) {
    add(denials, denial);
  }

  void add(ConnectionView connection) {
    add(connections, connection);
  }

  List<Denial> denials() {
    return copy(denials);
  }

  List<ConnectionView> connections() {
    return copy(connections);
  }

  private <T> void add(Deque<T> latestFirst, T element) {
    lock.lock();
    try {
      latestFirst.addFirst(element);
      if (latestFirst.size() > KEPT) {
        latestFirst.removeLast();
      }
    } finally {
      lock.unlock();
    }
  }

  private <T> List<T> copy(Deque<T> elements) {
    lock.lock();
    try {
      return List.copyOf(elements);
    } finally {
      lock.unlock();
    }
  }
}
