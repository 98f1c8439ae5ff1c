package dev.isola.store;

import java.time.Duration;
import java.util.Optional;

/**
 * Why and how a sandbox is suspended. Its idle timeout, and its expiry when that was the reason,
 * are not in effect meanwhile.
 *
 * @param idleTimeout the idle timeout that is in effect again once it runs
 * @param snapshot the snapshot that has its files when it is not at its provider
 */
public record Suspension(Reason reason, Optional<Duration> idleTimeout, Optional<String> snapshot) {
  /** What made the engine suspend it. */
  public enum Reason {
    /** It was idle for longer than its idle timeout. */
    IDLE,
    /** Its ttl was over. */
    EXPIRED
  }

  public Suspension {
    idleTimeout = idleTimeout.map(time -> Micros.duration(Micros.of(time)));
  }

  public Suspension withSnapshot(String id) {
    return new Suspension(reason, idleTimeout, Optional.of(id));
  }
}
