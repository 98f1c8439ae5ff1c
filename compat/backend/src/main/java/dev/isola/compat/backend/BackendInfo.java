package dev.isola.compat.backend;

import dev.isola.engine.api.NetworkPolicy;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
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
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Describes a provider of this server to a peer: what the protocol can carry of it. */
record BackendInfo(ServerContext context) {
  private static final Set<Class<? extends Capability>> CARRIED =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Pausing.class,
          Renewing.class,
          Snapshotting.class,
          Forking.class,
          MemoryForking.class,
          Volumes.class);

  private static final Set<SpecFeature> FEATURES =
      EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS, SpecFeature.DOMAINS, SpecFeature.GPUS);

  /** The network of this host is for clients of this server. */
  private static final Set<NetworkMode> NETWORK_MODES =
      EnumSet.of(NetworkMode.NONE, NetworkMode.BRIDGE);

  private static final Set<VolumeMount.Type> VOLUME_TYPES =
      EnumSet.of(VolumeMount.Type.TMPFS, VolumeMount.Type.VOLUME);

  Map<String, Object> describe(Exchange exchange) {
    ServerContext.Components parts = context.components();
    List<ProviderStatus> statuses = parts.health().awaitFirstProbes();
    Optional<String> named = exchange.query("provider").map(ProviderNames::canonical);
    Optional<String> name =
        named.or(() -> parts.engine().readiness().chosen().map(ProviderInfo::name));
    Optional<ProviderStatus> status =
        name.flatMap(
            wanted -> statuses.stream().filter(one -> one.name().equals(wanted)).findFirst());
    if (named.isPresent() && status.isEmpty()) {
      throw ProviderNames.unknown(
          named.get(), statuses.stream().map(ProviderStatus::name).toList());
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("protocol", 1);
    json.put("name", "isola");
    json.put("level", "channel");
    json.put("channel", "serve");
    name.ifPresent(one -> json.put("provider", one));
    status
        .flatMap(ProviderStatus::info)
        .ifPresentOrElse(
            info -> describe(info, parts.engine().networks(), json),
            () -> json.put("isolation", PeerSandboxes.word(Isolation.PROCESS)));
    status
        .flatMap(ProviderStatus::resources)
        .ifPresent(resources -> json.put("resources", resources(resources)));
    json.put(
        "health",
        health(
            status
                .map(ProviderStatus::health)
                .orElseGet(
                    () ->
                        new Health.Unhealthy(
                            "no provider of this server can create sandboxes",
                            "run isola doctor there"))));
    return json;
  }

  private static void describe(
      ProviderInfo info, NetworkPolicy networks, Map<String, Object> json) {
    json.put("summary", info.summary());
    json.put("isolation", PeerSandboxes.word(info.isolation()));
    json.put("accelerated", info.accelerated());
    json.put(
        "capabilities",
        info.capabilities().stream()
            .filter(CARRIED::contains)
            .map(Capability::idOf)
            .sorted()
            .toList());
    json.put("features", words(info.support().features(), FEATURES));
    List<NetworkMode> modes =
        info.support().networkModes().stream().filter(networks::permits).toList();
    json.put("networkModes", words(modes, NETWORK_MODES));
    json.put("volumeTypes", words(info.support().volumeTypes(), VOLUME_TYPES));
    json.put("limits", words(info.support().enforcedLimits(), info.support().enforcedLimits()));
    json.put("startupMs", info.startup().toMillis());
    json.put("cleanup", info.cleanup());
  }

  private static <E extends Enum<E>> List<String> words(Collection<E> declared, Set<E> carried) {
    return declared.stream().filter(carried::contains).map(PeerSandboxes::word).sorted().toList();
  }

  private static Map<String, Object> resources(HostResources resources) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("processors", resources.processors());
    json.put("memoryMb", resources.memoryMb());
    resources.freeMemoryMb().ifPresent(free -> json.put("freeMemoryMb", free));
    resources.diskMb().ifPresent(disk -> json.put("diskMb", disk));
    resources.freeDiskMb().ifPresent(free -> json.put("freeDiskMb", free));
    return json;
  }

  private static Map<String, Object> health(Health health) {
    return switch (health) {
      case Health.Healthy _ -> Map.of("status", "healthy");
      case Health.Degraded(String reason, String fix) ->
          Map.of("status", "degraded", "reason", reason, "fix", fix);
      case Health.Unhealthy(String reason, String fix) ->
          Map.of("status", "unhealthy", "reason", reason, "fix", fix);
    };
  }
}
