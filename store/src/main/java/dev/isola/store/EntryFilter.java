package dev.isola.store;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Selects sandboxes to list. An empty component does not restrict the result.
 *
 * @param labels the labels that a sandbox must have, all of them
 * @param startedAfter the earliest time at which the sandbox was requested
 * @param newestFirst lists in descending instead of ascending order
 */
public record EntryFilter(
    Optional<String> tenant,
    Set<SandboxState> states,
    Optional<String> provider,
    Map<String, String> labels,
    Optional<Boolean> pooled,
    Optional<Instant> startedAfter,
    boolean newestFirst) {

  static final Set<SandboxState> NOT_DESTROYED =
      Set.copyOf(EnumSet.complementOf(EnumSet.of(SandboxState.DESTROYED)));

  public static final EntryFilter ALL =
      new EntryFilter(
          Optional.empty(),
          Set.of(),
          Optional.empty(),
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          false);

  public EntryFilter {
    states = Set.copyOf(states);
    labels = Map.copyOf(labels);
  }

  public EntryFilter tenant(String name) {
    return new EntryFilter(
        Optional.of(name), states, provider, labels, pooled, startedAfter, newestFirst);
  }

  public EntryFilter states(SandboxState first, SandboxState... more) {
    return new EntryFilter(
        tenant, EnumSet.of(first, more), provider, labels, pooled, startedAfter, newestFirst);
  }

  /** Restricts the result to sandboxes of which resources may still exist. */
  public EntryFilter notDestroyed() {
    return new EntryFilter(
        tenant, NOT_DESTROYED, provider, labels, pooled, startedAfter, newestFirst);
  }

  public EntryFilter provider(String name) {
    return new EntryFilter(
        tenant, states, Optional.of(name), labels, pooled, startedAfter, newestFirst);
  }

  public EntryFilter label(String name, String value) {
    Map<String, String> more = new java.util.HashMap<>(labels);
    more.put(name, value);
    return new EntryFilter(tenant, states, provider, more, pooled, startedAfter, newestFirst);
  }

  public EntryFilter pooled(boolean unclaimed) {
    return new EntryFilter(
        tenant, states, provider, labels, Optional.of(unclaimed), startedAfter, newestFirst);
  }

  public EntryFilter startedAfter(Instant time) {
    return new EntryFilter(
        tenant, states, provider, labels, pooled, Optional.of(time), newestFirst);
  }

  public EntryFilter newestFirst(boolean reversed) {
    return new EntryFilter(tenant, states, provider, labels, pooled, startedAfter, reversed);
  }
}
