package dev.isola.spi.provider;

import dev.isola.spi.Cost;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import java.time.Duration;

/**
 * What a provider is, as far as that is known without asking the machine or the backend. The order
 * of preference is made of it, so that the best provider can be looked for without asking all.
 *
 * @param isolation the strongest that the provider has; {@link ProviderInfo#isolation()} tells what
 *     it has here
 * @param startup an estimate of how long create takes
 * @param onlyWhenNamed whether it is never chosen for a request that names no provider
 */
public record ProviderProfile(
    Isolation isolation, Hosting hosting, Duration startup, Cost cost, boolean onlyWhenNamed) {
  /** Of a provider that does not tell: it might be the best, so it has to be asked. */
  public static final ProviderProfile UNKNOWN =
      new ProviderProfile(Isolation.VM, Hosting.LOCAL, Duration.ZERO);

  /** Of a provider that costs nothing and may be chosen for any request. */
  public ProviderProfile(Isolation isolation, Hosting hosting, Duration startup) {
    this(isolation, hosting, startup, Cost.NONE, false);
  }

  /** Returns the profile of a provider whose sandboxes another party charges for. */
  public ProviderProfile metered() {
    return new ProviderProfile(isolation, hosting, startup, Cost.METERED, onlyWhenNamed);
  }

  /** Returns the profile of a provider that serves only requests that name it. */
  public ProviderProfile whenNamed() {
    return new ProviderProfile(isolation, hosting, startup, cost, true);
  }
}
