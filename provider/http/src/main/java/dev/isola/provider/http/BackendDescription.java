package dev.isola.provider.http;

import dev.isola.provider.http.BackendInfo.Level;
import dev.isola.provider.http.client.BackendAddress;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What the provider declares, from what the backend declares. */
final class BackendDescription {
  /** The backend's isolation is not known yet, so that only requests that name it are served. */
  static final ProviderProfile PROFILE =
      new ProviderProfile(Isolation.VM, Hosting.REMOTE, Duration.ofSeconds(5))
          .reachableFromEveryServer();

  /** What the guest agent does without the backend. */
  private static final Set<Class<? extends Capability>> AGENT =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          Snapshotting.class,
          Renewing.class,
          UsageReporting.class);

  /** What a backend does by requests. */
  private static final Set<Class<? extends Capability>> BY_REQUEST =
      Set.of(
          Pausing.class,
          Renewing.class,
          UsageReporting.class,
          Forking.class,
          MemoryForking.class,
          Volumes.class);

  private BackendDescription() {}

  static Set<Class<? extends Capability>> capabilities(BackendInfo info) {
    Set<Class<? extends Capability>> all =
        new HashSet<>(info.level() == Level.RELAY ? AGENT : Set.of());
    for (String id : info.capabilities()) {
      Capability.withId(id).filter(type -> isPossible(info, type)).ifPresent(all::add);
    }
    return all;
  }

  private static boolean isPossible(BackendInfo info, Class<? extends Capability> type) {
    return BY_REQUEST.contains(type) || (info.level() == Level.SERVE && AGENT.contains(type));
  }

  static ProviderInfo info(BackendAddress address, BackendInfo info) {
    Set<LimitKind> limits = new HashSet<>(info.limits());
    limits.add(LimitKind.TIMEOUT);
    if (info.level() == Level.RELAY) {
      limits.add(LimitKind.FILE_DESCRIPTORS);
    }
    return new ProviderInfo(
        HttpSettings.NAME,
        "sandboxes of " + info.name() + " at " + address,
        ApiVersion.CURRENT,
        info.isolation(),
        capabilities(info),
        new SpecSupport(info.features(), info.networkModes(), info.volumeTypes(), limits),
        List.of(new Prerequisite("backend", true, true, "configured: " + address, "")),
        "the backend ends the whole sandbox",
        info.startup(),
        Hosting.REMOTE,
        info.accelerated(),
        info.level() == Level.SIMPLE ? SimpleSandbox.LACKS : Set.of());
  }

  /** Describes the provider while nothing is known of its backend: it supports nothing. */
  static ProviderInfo unknown(Optional<BackendAddress> address) {
    return new ProviderInfo(
        HttpSettings.NAME,
        address.map(one -> "sandboxes of " + one).orElse("sandboxes of a backend of your own"),
        ApiVersion.CURRENT,
        Isolation.PROCESS,
        Set.of(),
        new SpecSupport(Set.of(), Set.of(), Set.of(), Set.of(LimitKind.TIMEOUT)),
        List.of(
            new Prerequisite(
                "backend",
                true,
                address.isPresent(),
                address.map(one -> "configured: " + one).orElse("not configured"),
                address.isPresent() ? "" : HttpProvider.NO_URL_FIX)),
        "the backend ends the whole sandbox",
        PROFILE.startup(),
        Hosting.REMOTE);
  }
}
