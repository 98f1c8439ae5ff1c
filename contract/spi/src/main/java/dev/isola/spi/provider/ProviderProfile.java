package dev.isola.spi.provider;

import dev.isola.spi.Cost;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import java.time.Duration;

/**
 * Static facts about a provider, known without asking the machine or the backend. The selector
 * ranks providers by their profiles, so that it does not have to query all of them.
 *
 * @param isolation the strongest level that the provider supports; {@link ProviderInfo#isolation()}
 *     is the level on this machine
 * @param startup an estimate of how long a create takes
 * @param onlyWhenNamed whether the provider serves only requests that name it
 * @param accelerated whether sandboxes may run on the processors of the machine; {@link
 *     ProviderInfo#accelerated()} is whether they do
 * @param shared whether every server of an installation that has the same settings reaches the same
 *     sandboxes, so that one server can take them over from another
 */
public record ProviderProfile(
    Isolation isolation,
    Hosting hosting,
    Duration startup,
    Cost cost,
    boolean onlyWhenNamed,
    boolean accelerated,
    boolean shared) {
  /**
   * The profile of a provider that declares none. It ranks first, because the provider might be the
   * best choice and has to be queried.
   */
  public static final ProviderProfile UNKNOWN =
      new ProviderProfile(Isolation.VM, Hosting.LOCAL, Duration.ZERO);

  /** Creates the profile of a provider that costs nothing and serves any request. */
  public ProviderProfile(Isolation isolation, Hosting hosting, Duration startup) {
    this(isolation, hosting, startup, Cost.NONE, false, true, false);
  }

  /** Returns this profile for a provider whose sandboxes are charged by a third party. */
  public ProviderProfile metered() {
    return new ProviderProfile(
        isolation, hosting, startup, Cost.METERED, onlyWhenNamed, accelerated, shared);
  }

  /** Returns this profile for a provider whose sandboxes run elsewhere. */
  public ProviderProfile withHosting(Hosting other) {
    return new ProviderProfile(isolation, other, startup, cost, onlyWhenNamed, accelerated, shared);
  }

  /** Returns this profile for a provider that serves only requests that name it. */
  public ProviderProfile whenNamed() {
    return new ProviderProfile(isolation, hosting, startup, cost, true, accelerated, shared);
  }

  /** Returns this profile for a provider whose sandboxes every server reaches. */
  public ProviderProfile reachableFromEveryServer() {
    return new ProviderProfile(isolation, hosting, startup, cost, onlyWhenNamed, accelerated, true);
  }
}
