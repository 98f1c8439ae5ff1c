package dev.isola.compat.backend;

import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
            .toList();
  }

  @Override
  public List<Route> routes() {
    return routes;
  }

  @Override
  public Optional<ApiDialect> dialect(
      Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target) {
    return Optional.empty();
  }

  @Override
  public Optional<PortName> port(Function<String, List<String>> headers) {
    return Optional.empty();
  }

  @Override
  public Optional<String> path(HostOriginFilter.PreviewTarget target, String path) {
    return Optional.empty();
  }

  @Override
  public PortCredentials portCredentials() {
    return PortCredentials.NONE;
  }
}
