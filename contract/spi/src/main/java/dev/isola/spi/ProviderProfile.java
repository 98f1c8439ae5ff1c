package dev.isola.spi;

import java.time.Duration;

/**
 * What a provider is, as far as that is known without asking the machine or the backend. The order
 * of preference is made of it, so that the best provider can be looked for without asking all.
 *
 * @param isolation the strongest that the provider has; {@link ProviderInfo#isolation()} tells what
 *     it has here
 * @param startup an estimate of how long create takes
 */
public record ProviderProfile(Isolation isolation, Hosting hosting, Duration startup) {
  /** Of a provider that does not tell: it might be the best, so it has to be asked. */
  public static final ProviderProfile UNKNOWN =
      new ProviderProfile(Isolation.VM, Hosting.LOCAL, Duration.ZERO);
}
