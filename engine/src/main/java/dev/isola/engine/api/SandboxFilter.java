package dev.isola.engine.api;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which sandboxes to list; what is empty does not narrow.
 *
 * @param labels every one of them has to match
 * @param startedAfter when they were ordered
 * @param newestFirst the oldest come first otherwise
 */
public record SandboxFilter(
    Set<SandboxState> states,
    Optional<String> provider,
    Map<String, String> labels,
    Optional<Boolean> pooled,
    Optional<Instant> startedAfter,
    boolean newestFirst) {

  public static final SandboxFilter ALL =
      new SandboxFilter(
          Set.of(), Optional.empty(), Map.of(), Optional.empty(), Optional.empty(), false);

  public SandboxFilter {
    states = Set.copyOf(states);
    labels = Map.copyOf(labels);
  }

  public SandboxFilter states(SandboxState first, SandboxState... more) {
    return new SandboxFilter(
        EnumSet.of(first, more), provider, labels, pooled, startedAfter, newestFirst);
  }

  /** Narrows to everything of which something may be left. */
  public SandboxFilter notDestroyed() {
    return new SandboxFilter(
        EnumSet.complementOf(EnumSet.of(SandboxState.DESTROYED)),
        provider,
        labels,
        pooled,
        startedAfter,
        newestFirst);
  }

  public SandboxFilter provider(String name) {
    return new SandboxFilter(states, Optional.of(name), labels, pooled, startedAfter, newestFirst);
  }

  public SandboxFilter label(String name, String value) {
    Map<String, String> more = new HashMap<>(labels);
    more.put(name, value);
    return new SandboxFilter(states, provider, more, pooled, startedAfter, newestFirst);
  }

  public SandboxFilter pooled(boolean unclaimed) {
    return new SandboxFilter(
        states, provider, labels, Optional.of(unclaimed), startedAfter, newestFirst);
  }

  public SandboxFilter startedAfter(Instant time) {
    return new SandboxFilter(states, provider, labels, pooled, Optional.of(time), newestFirst);
  }

  public SandboxFilter newestFirst(boolean reversed) {
    return new SandboxFilter(states, provider, labels, pooled, startedAfter, reversed);
  }
}
