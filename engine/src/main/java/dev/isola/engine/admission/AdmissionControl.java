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
  private final Admission shared;
  private final Map<String, Admission> own;

  /**
   * @param own by the name of the provider
   */
  public AdmissionControl(Admission shared, Map<String, Admission> own) {
    this.shared = shared;
    this.own = Map.copyOf(own);
  }

  private Admission of(String provider) {
    return own.getOrDefault(provider, shared);
  }

  /**
   * Returns a promise at the first of these providers that has room. Where none has, waits for the
   * first that could have.
   *
   * @param providers the best first
   * @throws LimitExceeded when no room becomes free in time
   */
  public Grant admit(List<String> providers, Resources asked) {
    Map<Admission, String> candidates = candidates(providers);
    if (candidates.size() > 1) {
      for (Map.Entry<Admission, String> one : candidates.entrySet()) {
        try {
          return one.getKey().admitAtOnce(one.getValue(), asked);
        } catch (LimitExceeded full) {
          // the next one may have room
        }
      }
    }
    String awaited =
        candidates.entrySet().stream()
            .filter(one -> one.getKey().couldHold(asked))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(providers.getFirst());
    return of(awaited).admit(awaited, asked);
  }

  /** Returns a promise at the first of these providers that has room now. */
  public Grant admitAtOnce(List<String> providers, Resources asked) {
    LimitExceeded full = null;
    for (Map.Entry<Admission, String> one : candidates(providers).entrySet()) {
      try {
        return one.getKey().admitAtOnce(one.getValue(), asked);
      } catch (LimitExceeded e) {
        full = full == null ? e : full;
      }
    }
    throw full == null ? new IllegalArgumentException("no provider is named") : full;
  }

  /** The first provider of each admission: the others of it have no more room. */
  private Map<Admission, String> candidates(List<String> providers) {
    Map<Admission, String> first = new LinkedHashMap<>();
    providers.forEach(name -> first.putIfAbsent(of(name), name));
    return first;
  }

  /**
   * Turns a promise into one of another provider, which makes the sandbox instead.
   *
   * @throws LimitExceeded when that one has no room now; the promise stays as it was
   */
  public void move(Grant grant, String provider) {
    Admission target = of(provider);
    if (grant.isOf(target)) {
      target.move(grant, provider);
    } else {
      grant.replaceBy(target.admitAtOnce(provider, grant.resources()));
    }
  }

  /** Counts a sandbox that exists already, as after a restart; there may be no room for it. */
  public Grant adopt(String provider, Resources held) {
    return of(provider).adopt(provider, held);
  }

  /** Returns what the providers without a capacity of their own share. */
  public Admission.Usage usage() {
    return shared.usage();
  }

  /** Returns what counts for a provider: its own capacity, or the one that it shares. */
  public Admission.Usage usage(String provider) {
    return of(provider).usage();
  }

  /** Returns what is promised to the sandboxes of a provider. */
  public Resources promised(String provider) {
    return of(provider).promised(provider);
  }
}
