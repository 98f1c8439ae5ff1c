package dev.isola.engine.admission;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.Resources;
import dev.isola.spi.error.LimitExceeded;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Routes admission by provider: a provider with a dedicated capacity uses its own pool, and all
 * others share the pool of the installation.
 */
public final class AdmissionControl {
  private final CapacityPool shared;
  private final Map<String, CapacityPool> dedicated;

  /**
   * @param dedicated pools by provider name
   */
  public AdmissionControl(CapacityPool shared, Map<String, CapacityPool> dedicated) {
    this.shared = shared;
    this.dedicated = Map.copyOf(dedicated);
  }

  private CapacityPool poolOf(String provider) {
    return dedicated.getOrDefault(provider, shared);
  }

  /**
   * Reserves resources at the first of these providers with free capacity. If none has any, waits
   * for the first one that the request can fit into.
   *
   * @param providers provider names, best first
   * @throws LimitExceeded if no capacity becomes free in time
   */
  public Reservation admit(List<String> providers, Resources requested) {
    Map<CapacityPool, String> candidates = candidates(providers);
    if (candidates.size() > 1) {
      for (Map.Entry<CapacityPool, String> one : candidates.entrySet()) {
        try {
          return one.getKey().admitNow(one.getValue(), requested);
        } catch (LimitExceeded full) {
          // the next pool may have capacity
        }
      }
    }
    String waitingFor =
        candidates.entrySet().stream()
            .filter(one -> one.getKey().canEverFit(requested))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(providers.getFirst());
    return poolOf(waitingFor).admit(waitingFor, requested);
  }

  /** Reserves resources at the first of these providers with free capacity, without waiting. */
  public Reservation admitNow(List<String> providers, Resources requested) {
    LimitExceeded full = null;
    for (Map.Entry<CapacityPool, String> one : candidates(providers).entrySet()) {
      try {
        return one.getKey().admitNow(one.getValue(), requested);
      } catch (LimitExceeded e) {
        full = full == null ? e : full;
      }
    }
    throw full == null ? new IllegalArgumentException("the list of providers is empty") : full;
  }

  /** Returns the first provider of each pool; further providers of a pool have no more capacity. */
  private Map<CapacityPool, String> candidates(List<String> providers) {
    Map<CapacityPool, String> first = new LinkedHashMap<>();
    providers.forEach(name -> first.putIfAbsent(poolOf(name), name));
    return first;
  }

  /**
   * Moves a reservation to another provider, which creates the sandbox instead.
   *
   * @throws LimitExceeded if that provider has no free capacity; the reservation is unchanged
   */
  public void move(Reservation reservation, String provider) {
    CapacityPool target = poolOf(provider);
    if (reservation.isFrom(target)) {
      target.move(reservation, provider);
    } else {
      reservation.replaceWith(target.admitNow(provider, reservation.resources()));
    }
  }

  /**
   * Reserves resources for a sandbox that already exists, for example after a restart, even beyond
   * the capacity.
   */
  public Reservation adopt(String provider, Resources held) {
    return poolOf(provider).adopt(provider, held);
  }

  /** Returns the usage of the shared pool. */
  public CapacityUsage usage() {
    return shared.usage();
  }

  /** Returns the usage of the pool that applies to a provider, dedicated or shared. */
  public CapacityUsage usage(String provider) {
    return poolOf(provider).usage();
  }

  /** Returns the resources reserved for the sandboxes of a provider. */
  public Resources reserved(String provider) {
    return poolOf(provider).reserved(provider);
  }
}
