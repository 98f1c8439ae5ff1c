package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Sighting;
import dev.isola.store.SandboxEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is written down and what there is. Providers were asked between the two readings of the
 * ledger: what was alive before must be among what they have, and what they have must have been
 * written down by the time after.
 *
 * @param before what was written down before anybody was asked, without what is destroyed
 * @param seen what providers have, by their names; who did not answer is not in it
 * @param after the ids that were written down after everybody had answered, with their providers
 * @param making what this process is making just now
 * @param leased what belongs to another process that is alive, such as {@code isola run}
 */
public record Situation(
    List<SandboxEntry> before,
    Map<String, List<Sighting>> seen,
    Map<SandboxId, String> after,
    Set<SandboxId> making,
    Set<SandboxId> leased) {
  public Situation {
    before = List.copyOf(before);
    seen = Map.copyOf(seen);
    after = Map.copyOf(after);
    making = Set.copyOf(making);
    leased = Set.copyOf(leased);
  }
}
