package dev.isola.simulation;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.placement.MachineBalancer;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import dev.isola.spi.provider.SpecSupport;
import dev.isola.spi.spec.ApiVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Chooses the provider of a new sandbox with the selector and the balancer of the engine. */
final class Placement {
  private static final SpecSupport SUPPORT =
      new SpecSupport(Set.of(), Set.of(), Set.of(), Set.of());

  private final World world;
  private final Map<String, ProviderInstance> instances = new HashMap<>();
  private final ProviderSelector selector;
  private final Map<SimulatedServer, List<ProviderStatus>> probed = new HashMap<>();
  private final Map<SimulatedServer, Long> probedAt = new HashMap<>();

  Placement(World world) {
    this.world = world;
    for (FakeBackend cluster : world.clusters) {
      instances.put(
          cluster.name,
          new ProviderInstance(
              cluster.name,
              "http",
              Optional.empty(),
              true,
              new ProviderProfile(Isolation.CONTAINER, Hosting.REMOTE, Duration.ofSeconds(1))));
    }
    instances.put(
        World.LOCAL,
        ProviderInstance.ofType(
            World.LOCAL,
            new ProviderProfile(Isolation.CONTAINER, Hosting.LOCAL, Duration.ofSeconds(2))));
    selector = new ProviderSelector(SelectionPolicy.DEFAULT, instances);
  }

  Selection select(SimulatedServer server, CreateRequest request) {
    List<ProviderStatus> statuses = statuses(server);
    return new MachineBalancer(instances, () -> statuses, server::promised)
        .balance(selector.select(request, statuses));
  }

  /** Returns the results of the last probes, which are up to an interval old. */
  private List<ProviderStatus> statuses(SimulatedServer server) {
    long now = world.timeline.now();
    List<ProviderStatus> known = probed.get(server);
    if (known == null || now - probedAt.getOrDefault(server, 0L) > Scenario.HEALTH_INTERVAL) {
      known = new ArrayList<>();
      for (FakeBackend cluster : world.clusters) {
        known.add(status(cluster, Duration.ofSeconds(1), Hosting.REMOTE));
      }
      known.add(status(server.machine, Duration.ofSeconds(2), Hosting.LOCAL));
      probed.put(server, known);
      probedAt.put(server, now);
    }
    return known;
  }

  private ProviderStatus status(FakeBackend backend, Duration startup, Hosting hosting) {
    long free = Math.max(0, backend.memoryMb - backend.size() * World.SANDBOX_MB);
    return new ProviderStatus(
        backend.name,
        Optional.of(
            new ProviderInfo(
                backend.name,
                "simulated",
                ApiVersion.CURRENT,
                Isolation.CONTAINER,
                Set.of(),
                SUPPORT,
                List.of(),
                "simulated",
                startup,
                hosting)),
        new Health.Healthy("simulated"),
        Optional.of(
            new HostResources(
                8,
                backend.memoryMb,
                OptionalLong.of(free),
                OptionalLong.empty(),
                OptionalLong.empty())),
        Timeline.instant(world.timeline.now()));
  }
}
