package dev.isola.engine.metrics;

import dev.isola.engine.admission.Admission;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.Standing;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.usage.Used;
import dev.isola.store.StateCount;
import java.util.List;
import java.util.Map;

/**
 * How things stand at one moment.
 *
 * @param sandboxes how many there are
 * @param admission of the providers without a capacity of their own
 * @param promised to the sandboxes of each provider
 * @param poolSize how many are to be ready
 * @param used by the sandboxes of each provider, when they were last looked at
 * @param quarantined the sandboxes whose records cannot be read
 */
public record Levels(
    List<StateCount> sandboxes,
    Admission.Usage admission,
    Map<String, Resources> promised,
    int poolSize,
    WarmPool.Tally pool,
    List<Standing> standings,
    Map<String, Used> used,
    int quarantined) {
  public Levels {
    sandboxes = List.copyOf(sandboxes);
    promised = Map.copyOf(promised);
    standings = List.copyOf(standings);
    used = Map.copyOf(used);
  }
}
