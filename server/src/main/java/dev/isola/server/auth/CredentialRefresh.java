package dev.isola.server.auth;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps copies of settings up to date that other servers change. Asks the ledger for the version of
 * each scope twice a second, and reads a scope again when its version has changed.
 */
public final class CredentialRefresh implements AutoCloseable {
  static final Duration INTERVAL = Duration.ofMillis(500);

  /** The least time between two checks for credentials that are not known. */
  private static final Duration MISS_INTERVAL = Duration.ofMillis(20);

  private final SettingsStore settings;
  private final Map<String, Runnable> reloads;
  private final Log log;
  private final Map<String, Long> versions = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Thread thread =
      Thread.ofVirtual().name("isola-credential-refresh").unstarted(this::follow);
  private long lastMissNanos = System.nanoTime() - MISS_INTERVAL.toNanos();
  private boolean failing;

  private CredentialRefresh(SettingsStore settings, Map<String, Runnable> reloads, Log log) {
    this.settings = settings;
    this.reloads = new LinkedHashMap<>(reloads);
    this.log = log;
  }

  /**
   * Starts to follow changes.
   *
   * @param reloads what reads a scope again, by scope
   */
  static CredentialRefresh start(SettingsStore settings, Map<String, Runnable> reloads, Log log) {
    CredentialRefresh refresh = new CredentialRefresh(settings, reloads, log);
    boolean _ = refresh.refresh();
    refresh.thread.start();
    return refresh;
  }

  private void follow() {
    try {
      while (true) {
        Thread.sleep(INTERVAL);
        try {
          boolean _ = refresh();
          failing = false;
        } catch (SandboxException e) {
          if (!failing) {
            log.warning(
                "changes of keys at other servers are not seen, because the ledger is not"
                    + " available: "
                    + e.fault().problem());
          }
          failing = true;
        }
      }
    } catch (InterruptedException e) {
      // This object was closed.
    }
  }

  /** Reads the scopes that have changed; returns whether there were any. */
  private boolean refresh() {
    boolean changed = false;
    lock.lock();
    try {
      for (Map.Entry<String, Runnable> one : reloads.entrySet()) {
        long version = settings.version(one.getKey());
        Long before = versions.get(one.getKey());
        if (before == null || before != version) {
          one.getValue().run();
          versions.put(one.getKey(), version);
          changed = true;
        }
      }
    } finally {
      lock.unlock();
    }
    return changed;
  }

  /**
   * Reads the scopes that have changed, because a credential is not known. Guessed credentials
   * cause few reads: all misses within a short time share one.
   *
   * @return whether to look for the credential again
   */
  boolean refreshAfterMiss() {
    long arrived = System.nanoTime();
    try {
      while (!isRefreshedAfter(arrived)) {
        Thread.sleep(MISS_INTERVAL);
      }
      return true;
    } catch (SandboxException e) {
      return false; // the ledger is not available
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
      return false;
    }
  }

  /** Returns whether a read has begun after a time; begins one unless another was just made. */
  private boolean isRefreshedAfter(long arrived) {
    lock.lock();
    try {
      if (lastMissNanos - arrived >= 0) {
        return true;
      }
      long now = System.nanoTime();
      if (now - lastMissNanos < MISS_INTERVAL.toNanos()) {
        return false;
      }
      lastMissNanos = now;
      boolean _ = refresh();
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
