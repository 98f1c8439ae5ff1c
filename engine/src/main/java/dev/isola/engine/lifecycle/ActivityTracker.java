package dev.isola.engine.lifecycle;

import dev.isola.spi.SandboxId;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Who is at work with a sandbox right now: a call is under way, or somebody holds what it opened, a
 * command, a terminal, a connection, content. Such a sandbox is not idle, however silent it is.
 */
public final class ActivityTracker {
  private final Map<SandboxId, Integer> counts = new ConcurrentHashMap<>();

  /** One use. */
  public final class Activity implements AutoCloseable {
    private final SandboxId id;
    private final AtomicBoolean ended = new AtomicBoolean();

    private Activity(SandboxId id) {
      this.id = id;
    }

    /** Ends it; once it is over, nothing. */
    @Override
    public void close() {
      if (ended.compareAndSet(false, true)) {
        counts.computeIfPresent(id, (any, count) -> count == 1 ? null : count - 1);
      }
    }
  }

  public Activity begin(SandboxId id) {
    counts.merge(id, 1, Integer::sum);
    return new Activity(id);
  }

  /** Returns the sandboxes that are in use now; the set follows what begins and ends. */
  Set<SandboxId> activeSandboxes() {
    return Collections.unmodifiableSet(counts.keySet());
  }
}
