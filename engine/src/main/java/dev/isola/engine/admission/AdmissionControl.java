package dev.isola.engine.admission;

import dev.isola.spi.error.LimitExceeded;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Admits sandboxes by the provider that runs them: a provider with a capacity of its own by that
 * capacity, all others together by the installation's.
 */
public final class AdmissionControl {
  private final CapacityPool shared;
  private final Map<String, CapacityPool> dedicated;

  /**
   * @param own by the name of the provider
   */
  public AdmissionControl(CapacityPool shared, Map<String, CapacityPool> own) {
    this.shared = shared;
    this.dedicated = Map.copyOf(own);
  }

  private CapacityPool poolOf(String provider) {
    return dedicated.getOrDefault(provider, shared);
  }

  /**
   * Returns a promise at the first of these providers that has room. Where none has, waits for the
   * first that could have.
   *
   * @param providers the best first
   * @throws LimitExceeded when no room becomes free in time
   */
  public Reservation admit(List<String> providers, Resources asked) {
    Map<CapacityPool, String> candidates = candidates(providers);
    if (candidates.size() > 1) {
      for (Map.Entry<CapacityPool, String> one : candidates.entrySet()) {
        try {
          return one.getKey().admitNow(one.getValue(), asked);
        } catch (LimitExceeded full) {
          // the next one may have room
        }
      }
    }
    String awaited =
        candidates.entrySet().stream()
            .filter(one -> one.getKey().canEverFit(asked))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(providers.getFirst());
    return poolOf(awaited).admit(awaited, asked);
  }

  /** Returns a promise at the first of these providers that has room now. */
  public Reservation admitNow(List<String> providers, Resources asked) {
    LimitExceeded full = null;
    for (Map.Entry<CapacityPool, String> one : candidates(providers).entrySet()) {
      try {
        return one.getKey().admitNow(one.getValue(), asked);
      } catch (LimitExceeded e) {
        full = full == null ? e : full;
      }
    }
    throw full == null ? new IllegalArgumentException("no provider is named") : full;
  }

  /** The first provider of each admission: the others of it have no more room. */
  private Map<CapacityPool, String> candidates(List<String> providers) {
    Map<CapacityPool, String> first = new LinkedHashMap<>();
    providers.forEach(name -> first.putIfAbsent(poolOf(name), name));
    return first;
  }

  /**
   * Turns a promise into one of another provider, which makes the sandbox instead.
   *
   * @throws LimitExceeded when that one has no room now; the promise stays as it was
   */
  public void move(Reservation grant, String provider) {
    CapacityPool target = poolOf(provider);
    if (grant.isFrom(target)) {
      target.move(grant, provider);
    } else {
      grant.replaceWith(target.admitNow(provider, grant.resources()));
    }
  }

  /** Counts a sandbox that exists already, as after a restart; there may be no room for it. */
  public Reservation adopt(String provider, Resources held) {
    return poolOf(provider).adopt(provider, held);
  }

  /** Returns what the providers without a capacity of their own share. */
  public CapacityPool.Usage usage() {
    return shared.usage();
  }

  /** Returns what counts for a provider: its own capacity, or the one that it shares. */
  public CapacityPool.Usage usage(String provider) {
    return poolOf(provider).usage();
  }

  /** Returns what is promised to the sandboxes of a provider. */
  public Resources reserved(String provider) {
    return poolOf(provider).reserved(provider);
  }
}
