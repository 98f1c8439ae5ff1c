package dev.isola.compat.backend;

import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.stream.Stream;

/** Implements the backend protocol (docs/backend-protocol.yaml) under {@code /backend}. */
public final class BackendApi implements ApiExtension {
  private final List<Route> routes;

  /**
   * @param defaultProvider the provider of sandboxes whose peer names none
   */
  public BackendApi(ServerContext context, String defaultProvider) {
    PeerSandboxes sandboxes = new PeerSandboxes(context, new HostAccessGuard(context));
    PeerVolumes volumes = new PeerVolumes(context);
    ForkPoints points = new ForkPoints();
    PeerCreation creation = new PeerCreation(context, sandboxes, volumes, points, defaultProvider);
    routes =
        Stream.of(
                new BackendRoutes(context, sandboxes, creation).routes(),
                new StateRoutes(context, sandboxes, points, new Captures()).routes(),
                new VolumeRoutes(volumes).routes())
            .flatMap(List::stream)
            .map(route -> byOwner(route, sandboxes))
            .toList();
  }

  /** The owner of a sandbox answers, which the name that the peer chose leads to. */
  private static Route byOwner(Route route, PeerSandboxes sandboxes) {
    return route.template().contains("{key}")
        ? route.answeredByOwner(
            match -> sandboxes.find(match.path().getOrDefault("key", "")).map(SandboxView::id))
        : route;
  }

  @Override
  public List<Route> routes() {
    return routes;
  }
}
