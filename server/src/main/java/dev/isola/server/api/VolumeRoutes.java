package dev.isola.server.api;

import dev.isola.engine.api.VolumeView;
import dev.isola.engine.api.volume.VolumeService;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Routes that create, list and remove volumes. A sandbox mounts a volume by naming it in its spec.
 *
 * @param defaultProvider the provider of requests that name none
 */
record VolumeRoutes(ServerContext context, String defaultProvider) {
  static final String TEMPLATE = "/api/v1/volumes";

  /** There is a single tenant. */
  static final String TENANT = "";

  private static final Shape NAME =
      new MatchingText(
          "^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$",
          128,
          "must be at most 128 letters, digits, . _ and -, and start with a letter or digit",
          "cache");

  static final Parameter VOLUME = Parameter.path("volume", NAME, "volume name");

  private static final Shape.Obj SHAPE =
      new Shape.Obj(
              Field.required("id", Shapes.WORD, "volume id; never reused").example("v1"),
              Field.required("name", Shapes.WORD, "name for mounting it in sandboxes")
                  .example("cache"),
              Field.required(
                      "provider", Shapes.TEXT, "provider that stores it; empty if not yet known")
                  .example("bubblewrap"),
              Field.required(
                  "state",
                  new Shape.Choice("VolumeState", List.of("creating", "available", "removing")),
                  "state; in removing, removal is retried until the provider has removed it"),
              Field.required("createdAt", Shapes.TIME, "creation time"))
          .named("Volume");

  List<Route> routes() {
    return List.of(
        Route.of("POST", TEMPLATE, "createVolume", "Creates a volume.")
            .needs(Scope.USE)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("name", NAME, "letters, digits, . _ and -, at most 128"),
                        Field.optional("provider", Shapes.WORD, "provider that stores it")),
                    true))
            .answers(Response.json(201, SHAPE))
            .handledBy(this::create),
        Route.of("GET", TEMPLATE, "listVolumes", "Lists volumes, by name.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "volumes",
                                new Shape.ListOf(SHAPE, VolumeService.MAX_VOLUMES),
                                "the volumes"))
                        .named("VolumeList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "volumes",
                            volumes().list(TENANT).stream().map(VolumeRoutes::json).toList()))),
        Route.of("GET", TEMPLATE + "/{volume}", "getVolume", "Describes a volume.")
            .takes(VOLUME)
            .answers(Response.json(200, SHAPE))
            .handledBy(exchange -> exchange.json(200, json(volumes().get(TENANT, name(exchange))))),
        Route.of(
                "DELETE",
                TEMPLATE + "/{volume}",
                "removeVolume",
                "Removes a volume with its files; fails while a sandbox mounts it.")
            .needs(Scope.USE)
            .takes(VOLUME)
            .handledBy(
                exchange -> {
                  volumes().remove(TENANT, name(exchange));
                  exchange.noContent();
                }));
  }

  private VolumeService volumes() {
    return context.engine().volumes();
  }

  static String name(Exchange exchange) {
    return exchange.path("volume");
  }

  private void create(Exchange exchange) throws IOException {
    String provider =
        exchange.body().get("provider") instanceof String named ? named : defaultProvider;
    exchange.json(201, json(volumes().create(TENANT, exchange.text("name"), provider)));
  }

  private static Map<String, Object> json(VolumeView volume) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", volume.id());
    json.put("name", volume.name());
    json.put("provider", volume.provider());
    json.put("state", volume.state());
    json.put("createdAt", volume.createdAt().toString());
    return json;
  }
}
