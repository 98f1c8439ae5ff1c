package dev.isola.compat.e2b.envd;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Watches that clients poll. A watch ends when it has not been polled for ten minutes; pending
 * changes are held by the watch itself, which bounds them.
 */
final class Watchers {
  private static final int MAX_PER_SANDBOX = 32;
  private static final int MAX_EVENTS = 10_000;
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final SecureRandom RANDOM = new SecureRandom();

  private static final class Watcher {
    final SandboxId sandbox;
    final WatchEvents changes;
    final ReentrantLock lock = new ReentrantLock();
    volatile long lastPolled = System.nanoTime();

    Watcher(SandboxId sandbox, WatchEvents changes) {
      this.sandbox = sandbox;
      this.changes = changes;
    }
  }

  private final Map<String, Watcher> watchers = new ConcurrentHashMap<>();

  /** Registers a watch and returns its id. */
  String add(SandboxId sandbox, WatchEvents changes) {
    long existing = watchers.values().stream().filter(one -> one.sandbox.equals(sandbox)).count();
    if (existing >= MAX_PER_SANDBOX) {
      changes.close();
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "a sandbox may have at most " + MAX_PER_SANDBOX + " polled watchers",
              "remove some of them")
          .exception();
    }
    byte[] bytes = new byte[12];
    RANDOM.nextBytes(bytes);
    String id = "w" + HexFormat.of().formatHex(bytes);
    Watcher watcher = new Watcher(sandbox, changes);
    watchers.put(id, watcher);
    Thread.ofVirtual().name("isola-watcher").start(() -> expire(id, watcher));
    return id;
  }

  private void expire(String id, Watcher watcher) {
    try {
      while (watchers.get(id) == watcher) {
        long left = watcher.lastPolled + IDLE.toNanos() - System.nanoTime();
        if (left <= 0 || watcher.changes.ended()) {
          end(id);
        } else {
          Thread.sleep(Duration.ofNanos(Math.min(left, Duration.ofMinutes(1).toNanos())));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // this thread is never interrupted
    }
  }

  /** Returns the changes that were made since the previous call and before this one. */
  List<Map<String, Object>> events(SandboxId sandbox, String id) {
    Watcher watcher = watchers.get(id);
    if (watcher == null || !watcher.sandbox.equals(sandbox)) {
      throw notFound(id);
    }
    watcher.lock.lock();
    try {
      watcher.lastPolled = System.nanoTime();
      return watcher.changes.drain(MAX_EVENTS);
    } finally {
      watcher.lock.unlock();
    }
  }

  void remove(SandboxId sandbox, String id) {
    Watcher watcher = watchers.get(id);
    if (watcher == null || !watcher.sandbox.equals(sandbox)) {
      throw notFound(id);
    }
    end(id);
  }

  private void end(String id) {
    Watcher watcher = watchers.remove(id);
    if (watcher != null) {
      watcher.changes.close();
    }
  }

  private static SandboxException notFound(String id) {
    return Fault.of(
            ErrorCode.FILE_NOT_FOUND,
            "watcher with id " + id + " not found",
            "create a new watcher")
        .exception();
  }
}
