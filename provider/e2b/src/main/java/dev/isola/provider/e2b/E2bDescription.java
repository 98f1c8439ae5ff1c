package dev.isola.provider.e2b;

import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the provider declares. */
record E2bDescription(E2bProviderSettings settings) {
  static final String NAME = "e2b";

  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.VM, Hosting.REMOTE, Duration.ofSeconds(2))
          .metered()
          .reachableFromEveryServer();

  ProviderInfo info() {
    return new ProviderInfo(
        NAME,
        "sandboxes of " + settings.api().getHost() + " through E2B's API",
        ApiVersion.CURRENT,
        settings.isolation(),
        capabilities(),
        new SpecSupport(
            EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS),
            networks(),
            Set.of(),
            EnumSet.of(LimitKind.TIMEOUT)),
        List.of(key()),
        "E2B kills the whole machine; the processes of a command are identified by a variable in"
            + " their environment and by descent",
        PROFILE.startup(),
        PROFILE.hosting());
  }

  Set<Class<? extends Capability>> capabilities() {
    Set<Class<? extends Capability>> all =
        new HashSet<>(Set.of(Terminals.class, Watching.class, Pausing.class, Renewing.class));
    if (wholeMachine()) {
      all.add(UsageReporting.class);
    }
    return all;
  }

  /**
   * Tells whether a sandbox is a whole virtual machine, so that the machine's usage is that of the
   * sandbox alone.
   */
  boolean wholeMachine() {
    return settings.isolation() == Isolation.VM;
  }

  /** E2B can block internet access, but it always provides a network interface. */
  private Set<NetworkMode> networks() {
    return wholeMachine() ? EnumSet.of(NetworkMode.BRIDGE) : EnumSet.noneOf(NetworkMode.class);
  }

  private Prerequisite key() {
    boolean there = settings.key().isPresent();
    return new Prerequisite(
        "E2B API key",
        true,
        there,
        there ? "configured" : "not configured",
        there ? "" : "set E2B_API_KEY or the provider's setting api_key");
  }
}
