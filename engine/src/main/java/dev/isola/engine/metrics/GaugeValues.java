package dev.isola.engine.metrics;

import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.pool.WarmPool;
import dev.isola.engine.usage.UsageTotals;
import dev.isola.store.EntryCount;
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
public record GaugeValues(
    List<EntryCount> sandboxes,
    CapacityPool.Usage admission,
    Map<String, Resources> reserved,
    int poolSize,
    WarmPool.Stats poolStats,
    List<ProviderStatus> statuses,
    Map<String, UsageTotals> usage,
    int quarantined) {
  public GaugeValues {
    sandboxes = List.copyOf(sandboxes);
    reserved = Map.copyOf(reserved);
    statuses = List.copyOf(statuses);
    usage = Map.copyOf(usage);
  }
}
