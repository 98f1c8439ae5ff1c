package dev.isola.app;

import dev.isola.spi.Health;
import dev.isola.spi.Provider;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.ArrayList;
import java.util.List;

/** The provider of a run. */
record ProviderChoice(String name, Provider provider) {
  /**
   * What a run may use unasked, strongest and fastest to start first. Only local ones: a cloud or a
   * daemon of somebody else is used when it is named.
   */
  private static final List<String> PREFERENCE =
      List.of("bubblewrap", "gvisor", "crun", "runc", "proot", "subprocess");

  /**
   * Returns the first of the preferred ones that works.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when none does, with each one's reason
   */
  static ProviderChoice best(Providers providers) {
    List<String> reasons = new ArrayList<>();
    for (String name : PREFERENCE) {
      if (providers.has(name)) {
        Provider provider = providers.get(name);
        if (provider.health() instanceof Health.Unhealthy unhealthy) {
          reasons.add(name + ": " + unhealthy.reason());
        } else {
          return new ProviderChoice(name, provider);
        }
      }
    }
    String why = reasons.isEmpty() ? "none is installed" : String.join(", ", reasons);
    throw Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "no provider works on this machine (" + why + ")",
            "see isola doctor")
        .exception();
  }

  /**
   * Returns the one asked for.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such provider
   * @throws dev.isola.spi.error.ProviderUnavailable when it does not work here
   */
  static ProviderChoice named(String name, Providers providers) {
    Provider provider = providers.get(name);
    if (provider.health() instanceof Health.Unhealthy unhealthy) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "provider " + name + " does not work here: " + unhealthy.reason(),
              unhealthy.fix())
          .with("provider", name)
          .exception();
    }
    return new ProviderChoice(name, provider);
  }
}
