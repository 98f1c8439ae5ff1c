package dev.isola.engine.reconcile;

import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Sighting;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides what to do about a situation. Pure; of a provider that did not answer nothing is said.
 */
final class Reconciliation {
  private Reconciliation() {}

  static List<Step> plan(Situation now) {
    List<Step> steps = new ArrayList<>();
    for (SandboxEntry entry : now.before()) {
      List<Sighting> seen = now.seen().get(entry.provider());
      if (seen != null && !now.making().contains(entry.id())) {
        judge(entry, find(seen, entry.id())).ifPresent(steps::add);
      }
    }
    Map<SandboxId, String> known = new HashMap<>(now.after());
    now.before().forEach(entry -> known.putIfAbsent(entry.id(), entry.provider()));
    now.seen()
        .forEach(
            (provider, sightings) -> {
              for (Sighting sighting : sightings) {
                boolean written = provider.equals(known.get(sighting.id()));
                boolean owned =
                    now.making().contains(sighting.id()) || now.leased().contains(sighting.id());
                if (!written && !owned) {
                  steps.add(new Step.Remove(provider, sighting.id()));
                }
              }
            });
    return steps;
  }

  private static @Nullable Sighting find(List<Sighting> seen, SandboxId id) {
    return seen.stream().filter(one -> one.id().equals(id)).findFirst().orElse(null);
  }

  private static Optional<Step> judge(SandboxEntry entry, @Nullable Sighting sighting) {
    return switch (entry.state()) {
      case CREATING ->
          Optional.of(new Step.Lose(entry, "the server ended while the sandbox was made"));
      case ERROR, TERMINATING -> Optional.of(new Step.Finish(entry));
      case DESTROYED -> Optional.empty();
      case RUNNING, PAUSED, STOPPED ->
          entry.state() == SandboxState.STOPPED && SuspensionState.snapshot(entry).isPresent()
              ? away(entry, sighting)
              : Optional.of(alive(entry, sighting));
    };
  }

  /** Its files are kept elsewhere; what its provider has of it is what it was, or half made. */
  private static Optional<Step> away(SandboxEntry entry, @Nullable Sighting sighting) {
    return sighting == null ? Optional.empty() : Optional.of(new Step.Discard(entry));
  }

  private static Step alive(SandboxEntry entry, @Nullable Sighting sighting) {
    if (sighting == null) {
      return new Step.Lose(entry, "lost: " + entry.provider() + " does not have it any more");
    }
    return switch (sighting.state()) {
      case ERROR, TERMINATING, DESTROYED -> {
        String how = sighting.details().getOrDefault(Sighting.ENDED, "");
        yield new Step.Lose(
            entry, "lost: its processes are gone" + (how.isEmpty() ? "" : " (" + how + ")"));
      }
      case CREATING -> new Step.Attach(entry);
      case RUNNING, PAUSED, STOPPED ->
          sighting.state() == entry.state()
              ? new Step.Attach(entry)
              : new Step.Correct(entry, sighting.state());
    };
  }
}
