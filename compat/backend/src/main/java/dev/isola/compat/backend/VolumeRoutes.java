package dev.isola.compat.backend;

import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Map;

/** Operations on the named volumes of a peer. */
record VolumeRoutes(PeerVolumes volumes) {
  private static final Parameter NAME =
      Parameter.path("name", BackendRoutes.WORD, "the name that the peer chose");

  private static final Parameter INSTANCE =
      Parameter.query("instance", BackendRoutes.WORD, "the installation of the peer");

  List<Route> routes() {
    return List.of(
        BackendRoutes.route("GET", "/volumes", "backendVolumes", "Lists the volumes of a peer.")
            .needs(Scope.READ)
            .takes(INSTANCE)
            .handledBy(
                exchange ->
                    exchange.json(200, Map.of("volumes", volumes.list(instance(exchange))))),
        BackendRoutes.route("PUT", "/volumes/{name}", "backendCreateVolume", "Creates a volume.")
            .takes(
                NAME,
                INSTANCE,
                Parameter.query("provider", BackendRoutes.WORD, "a provider of this server"))
            .handledBy(
                exchange -> {
                  volumes.create(
                      instance(exchange),
                      exchange.path("name"),
                      exchange.query("provider").orElse(""));
                  exchange.noContent();
                }),
        BackendRoutes.route("DELETE", "/volumes/{name}", "backendRemoveVolume", "Removes a volume.")
            .takes(NAME, INSTANCE)
            .handledBy(
                exchange -> {
                  volumes.remove(instance(exchange), exchange.path("name"));
                  exchange.noContent();
                }));
  }

  static String instance(Exchange exchange) {
    return exchange
        .query("instance")
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.INVALID_REQUEST,
                        "the parameter instance is missing",
                        "name the installation of the peer")
                    .exception());
  }
}
