package dev.isola.engine.lifecycle;

import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is written of a sandbox that rests, as labels that no caller has. Its idle time and, when
 * its time was up, that time are gone meanwhile: it rests for as long as it likes.
 */
public final class Rest {
  /** The idle time of one that was idle too long. */
  private static final String IDLE = "isola.rests-after-ms";

  /** There for one whose time was up. */
  private static final String EXPIRED = "isola.rests-beyond-its-time";

  /** What its files are kept as when it is not at its provider. */
  private static final String KEPT = "isola.rests-in";

  private Rest() {}

  /** Tells whether a sandbox rests. */
  public static boolean is(SandboxEntry entry) {
    return entry.labels().containsKey(IDLE) || entry.labels().containsKey(EXPIRED);
  }

  /** Tells whether any request wakes a sandbox that rests; {@code resume} does in any case. */
  public static boolean wakes(SandboxEntry entry) {
    return is(entry)
        && (!entry.labels().containsKey(EXPIRED)
            || SpecText.read(entry.spec(), entry.id()).autoResume());
  }

  /** Returns what the files are kept as of one that is not at its provider. */
  public static Optional<String> keptAs(SandboxEntry entry) {
    return Optional.ofNullable(entry.labels().get(KEPT));
  }

  /** Returns the entry of one that is to rest. */
  static SandboxEntry of(SandboxEntry entry, boolean expired) {
    SandboxEntry.Builder resting = entry.toBuilder().idleTimeout(null);
    // Both are written where both are known, so that both are there when it runs again.
    entry.idleTimeout().ifPresent(idle -> resting.label(IDLE, Long.toString(idle.toMillis())));
    if (expired) {
      resting.label(EXPIRED, "yes").expiresAt(null);
    }
    return resting.build();
  }

  static SandboxEntry kept(SandboxEntry entry, String name) {
    return entry.toBuilder().label(KEPT, name).build();
  }

  /** Returns the entry of one that rested and runs again. */
  public static SandboxEntry over(SandboxEntry entry, Instant now) {
    if (!is(entry)) {
      return entry;
    }
    Map<String, String> labels = new TreeMap<>(entry.labels());
    String idle = labels.remove(IDLE);
    boolean expired = labels.remove(EXPIRED) != null;
    labels.remove(KEPT);
    SandboxEntry.Builder woken = entry.toBuilder().labels(labels).lastActivity(now);
    if (idle != null) {
      woken.idleTimeout(Duration.ofMillis(Long.parseLong(idle)));
    }
    if (expired) {
      SandboxSpec spec = SpecText.read(entry.spec(), entry.id());
      woken.expiresAt(spec.ttl().map(now::plus).orElse(null));
    }
    return woken.build();
  }
}
