package dev.isola.store;

import java.time.Duration;
import java.util.Optional;

/**
 * Why and how a sandbox is suspended. While it is suspended, its idle timeout does not apply, nor
 * does its expiry if that was the reason.
 *
 * @param idleTimeout the idle timeout that applies again after the sandbox resumes
 * @param snapshot the snapshot that holds the files if the provider no longer has them
 */
public record Suspension(Reason reason, Optional<Duration> idleTimeout, Optional<String> snapshot) {
  /** Why the engine suspended the sandbox. */
  public enum Reason {
    /** The idle timeout expired. */
    IDLE,
    /** The sandbox expired. */
    EXPIRED
  }

  public Suspension {
    idleTimeout = idleTimeout.map(time -> Micros.duration(Micros.of(time)));
  }

  public Suspension withSnapshot(String id) {
    return new Suspension(reason, idleTimeout, Optional.of(id));
  }
}
