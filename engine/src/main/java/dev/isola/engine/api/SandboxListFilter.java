package dev.isola.engine.api;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Selects the sandboxes to list. Empty fields match everything.
 *
 * @param labels all of them must match
 * @param startedAfter matches sandboxes that were requested at this time or later
 * @param name the name that the client gave the sandbox
 * @param reference the name, the id, or the first characters of the id
 * @param newestFirst whether the newest sandbox comes first; otherwise the oldest does
 */
public record SandboxListFilter(
    Set<SandboxState> states,
    Optional<String> provider,
    Map<String, String> labels,
    Optional<Boolean> pooled,
    Optional<Instant> startedAfter,
    Optional<String> name,
    Optional<String> reference,
    boolean newestFirst) {

  public static final SandboxListFilter ALL =
      new SandboxListFilter(
          Set.of(),
          Optional.empty(),
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          false);

  public SandboxListFilter {
    states = Set.copyOf(states);
    labels = Map.copyOf(labels);
  }

  public SandboxListFilter states(SandboxState first, SandboxState... more) {
    return new SandboxListFilter(
        EnumSet.of(first, more),
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        newestFirst);
  }

  /** Excludes destroyed sandboxes. */
  public SandboxListFilter notDestroyed() {
    return new SandboxListFilter(
        EnumSet.complementOf(EnumSet.of(SandboxState.DESTROYED)),
        provider,
        labels,
        pooled,
        startedAfter,
        name,
        reference,
        newestFirst);
  }

  public SandboxListFilter provider(String one) {
    return new SandboxListFilter(
        states, Optional.of(one), labels, pooled, startedAfter, name, reference, newestFirst);
  }

  public SandboxListFilter label(String key, String value) {
    Map<String, String> more = new HashMap<>(labels);
    more.put(key, value);
    return new SandboxListFilter(
        states, provider, more, pooled, startedAfter, name, reference, newestFirst);
  }

  public SandboxListFilter pooled(boolean unclaimed) {
    return new SandboxListFilter(
        states,
        provider,
        labels,
        Optional.of(unclaimed),
        startedAfter,
        name,
        reference,
        newestFirst);
  }

  public SandboxListFilter startedAfter(Instant time) {
    return new SandboxListFilter(
        states, provider, labels, pooled, Optional.of(time), name, reference, newestFirst);
  }

  /** Selects the sandbox with this name. */
  public SandboxListFilter name(String exact) {
    return new SandboxListFilter(
        states, provider, labels, pooled, startedAfter, Optional.of(exact), reference, newestFirst);
  }

  /** Selects the sandboxes whose name is {@code text} or whose id begins with it. */
  public SandboxListFilter reference(String text) {
    return new SandboxListFilter(
        states, provider, labels, pooled, startedAfter, name, Optional.of(text), newestFirst);
  }

  public SandboxListFilter newestFirst(boolean reversed) {
    return new SandboxListFilter(
        states, provider, labels, pooled, startedAfter, name, reference, reversed);
  }
}
