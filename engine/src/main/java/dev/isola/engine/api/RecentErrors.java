package dev.isola.engine.api;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The latest failures of each sandbox, in memory. Both the failures per sandbox and the sandboxes
 * are limited; the sandboxes that failed longest ago are dropped first.
 */
public final class RecentErrors {
  /** The number of failures that are kept for a sandbox. */
  public static final int MAX_PER_SANDBOX = 20;

  static final int MAX_SANDBOXES = 10_000;
  static final int MAX_MESSAGE = 300;

  private final InstantSource clock;
  private final Map<SandboxId, Deque<RecentError>> errors = new LinkedHashMap<>();

  public RecentErrors(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Records a failure.
   *
   * @param message must not contain a command, its output or a secret
   */
  public void record(SandboxId id, String operation, ErrorCode code, String message) {
    RecentError error = new RecentError(clock.instant(), code, operation, printable(message));
    synchronized (errors) {
      Deque<RecentError> known = errors.remove(id);
      Deque<RecentError> latest = known == null ? new ArrayDeque<>() : known;
      if (latest.size() == MAX_PER_SANDBOX) {
        latest.removeFirst();
      }
      latest.addLast(error);
      errors.put(id, latest); // as the last of the sandboxes
      if (errors.size() > MAX_SANDBOXES) {
        errors.remove(errors.keySet().iterator().next());
      }
    }
  }

  /** Returns the failures of a sandbox, oldest first. */
  public List<RecentError> of(SandboxId id) {
    synchronized (errors) {
      Deque<RecentError> known = errors.get(id);
      return known == null ? List.of() : List.copyOf(known);
    }
  }

  /** Parts of a message may come from a sandbox. */
  private static String printable(String message) {
    StringBuilder text = new StringBuilder();
    message
        .codePoints()
        .limit(MAX_MESSAGE)
        .map(
            c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE ? '?' : c)
        .forEach(text::appendCodePoint);
    return text.toString();
  }
}
