package dev.isola.store;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Selects sandboxes to list. An empty component does not restrict the result.
 *
 * @param labels the labels that a sandbox must have, all of them
 * @param startedAfter the earliest time at which the sandbox was requested
 * @param name the name that the client gave the sandbox
 * @param reference the name, the id, or at least its first {@link #SHORTEST_PREFIX} characters
 * @param owner the server that owns the sandbox
 * @param newestFirst lists in descending instead of ascending order
 */
public record EntryFilter(
    Optional<String> tenant,
    Set<SandboxState> states,
    Optional<String> provider,
    Map<String, String> labels,
    Optional<Boolean> pooled,
    Optional<Instant> startedAfter,
    Optional<String> name,
    Optional<String> reference,
    Optional<String> owner,
    boolean newestFirst) {

  /** A shorter reference is compared with whole ids. */
  public static final int SHORTEST_PREFIX = 3;

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
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          false);

  public EntryFilter {
    states = Set.copyOf(states);
    labels = Map.copyOf(labels);
  }

  public EntryFilter tenant(String one) {
    return new EntryFilter(
        Optional.of(one),
        states,
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        owner,
        newestFirst);
  }

  public EntryFilter states(SandboxState first, SandboxState... more) {
    return new EntryFilter(
        tenant,
        EnumSet.of(first, more),
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        owner,
        newestFirst);
  }

  /** Restricts the result to sandboxes of which resources may still exist. */
  public EntryFilter notDestroyed() {
    return new EntryFilter(
        tenant,
        NOT_DESTROYED,
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        owner,
        newestFirst);
  }

  public EntryFilter provider(String one) {
    return new EntryFilter(
        tenant,
        states,
        Optional.of(one),
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        owner,
        newestFirst);
  }

  public EntryFilter label(String key, String value) {
    Map<String, String> more = new HashMap<>(labels);
    more.put(key, value);
    return new EntryFilter(
        tenant, states, provider, more, pooled, startedAfter, name, reference, owner, newestFirst);
  }

  public EntryFilter pooled(boolean unclaimed) {
    return new EntryFilter(
        tenant,
        states,
        provider,
        labels,
        Optional.of(unclaimed),
        startedAfter,
        name,
        reference,
        owner,
        newestFirst);
  }

  public EntryFilter startedAfter(Instant time) {
    return new EntryFilter(
        tenant,
        states,
        provider,
        labels,
        pooled,
        Optional.of(time),
        name,
        reference,
        owner,
        newestFirst);
  }

  /** Restricts the result to sandboxes with this name. */
  public EntryFilter name(String exact) {
    return new EntryFilter(
        tenant,
        states,
        provider,
        labels,
        pooled,
        startedAfter,
        Optional.of(exact),
        reference,
        owner,
        newestFirst);
  }

  /** Restricts the result to sandboxes whose name is {@code text} or whose id begins with it. */
  public EntryFilter reference(String text) {
    return new EntryFilter(
        tenant,
        states,
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        Optional.of(text),
        owner,
        newestFirst);
  }

  /** Restricts the result to sandboxes that a server owns. */
  public EntryFilter owner(String server) {
    return new EntryFilter(
        tenant,
        states,
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        Optional.of(server),
        newestFirst);
  }

  public EntryFilter newestFirst(boolean reversed) {
    return new EntryFilter(
        tenant, states, provider, labels, pooled, startedAfter, name, reference, owner, reversed);
  }
}
