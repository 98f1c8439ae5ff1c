package dev.isola.engine.lifecycle;

import dev.isola.spi.SandboxId;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tracks which sandboxes clients are using: a call is in progress, or a client holds an open
 * execution, terminal, connection or content stream. Such a sandbox is not idle even without I/O.
 */
public final class ActivityTracker {
  private final Map<SandboxId, Integer> counts = new ConcurrentHashMap<>();

  /** One use of a sandbox. */
  public final class Activity implements AutoCloseable {
    private final SandboxId id;
    private final AtomicBoolean ended = new AtomicBoolean();

    private Activity(SandboxId id) {
      this.id = id;
    }

    /** Ends the use. Repeated calls do nothing. */
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

  /** Returns a live view of the sandboxes in use. */
  public Set<SandboxId> activeSandboxes() {
    return Collections.unmodifiableSet(counts.keySet());
  }
}
