package dev.isola.engine.metrics;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.PoolStats;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.usage.UsageTotals;
import dev.isola.store.EntryCount;
import java.util.List;
import java.util.Map;

/**
 * The values of all gauges at one point in time.
 *
 * @param sandboxes the number of sandboxes by provider and state
 * @param admission the usage of the shared capacity
 * @param reserved the resources reserved for the sandboxes of each provider
 * @param poolSize the configured size of the warm pool
 * @param usage the usage of the sandboxes of each provider in the latest sample
 * @param quarantined the number of sandboxes with unreadable records
 */
public record GaugeValues(
    List<EntryCount> sandboxes,
    CapacityUsage admission,
    Map<String, Resources> reserved,
    int poolSize,
    PoolStats poolStats,
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
