package dev.isola.compat.e2b.volume;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.template.E2bTemplates;
import dev.isola.engine.api.SettingsStore;
import dev.isola.engine.api.VolumeView;
import dev.isola.engine.api.volume.VolumeService;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Routes for volumes of the engine in E2B's API. A token authorizes access to the content of each
 * volume.
 */
public final class E2bVolumeRoutes {
  /** There is a single tenant. */
  static final String TENANT = "";

  private static final Shape ANY = new AnyObjectShape();

  private final ServerContext context;
  private final String provider;
  private final VolumeTokens tokens;

  private E2bVolumeRoutes(ServerContext context, String provider, VolumeTokens tokens) {
    this.context = context;
    this.provider = provider;
    this.tokens = tokens;
  }

  /**
   * Returns all routes for volumes.
   *
   * @param provider the provider that stores new volumes
   */
  public static List<Route> all(
      SettingsStore settings, ServerContext context, E2bTemplates templates, String provider) {
    VolumeTokens tokens = new VolumeTokens(settings);
    return Stream.of(
            new E2bVolumeRoutes(context, provider, tokens).routes(),
            new VolumeContentRoutes(context, templates, tokens).routes())
        .flatMap(List::stream)
        .toList();
  }

  private List<Route> routes() {
    return List.of(
        route("POST", "/volumes", "e2bVolume", "Creates a volume.").handledBy(this::create),
        route("GET", "/volumes", "e2bVolumes", "Lists volumes.")
            .needs(Scope.READ)
            .handledBy(
                exchange ->
                    exchange.json(
                        200, volumes().list(TENANT).stream().map(E2bVolumeRoutes::json).toList())),
        route(
                "GET",
                "/volumes/{volume}",
                "e2bGetVolume",
                "Describes a volume, with a token for its content.")
            .handledBy(exchange -> exchange.json(200, withToken(require(exchange)))),
        route("DELETE", "/volumes/{volume}", "e2bRemoveVolume", "Removes a volume.")
            .handledBy(this::remove));
  }

  private static Route route(String method, String template, String name, String summary) {
    Route route = Route.of(method, template, name, summary).needs(Scope.USE).of(E2bDialect.CONTROL);
    return method.equals("POST") ? route.takes(new Route.Body.Json(ANY, false)) : route;
  }

  private VolumeService volumes() {
    return context.engine().volumes();
  }

  private void create(Exchange exchange) throws IOException {
    String name = new E2bRequestBody(exchange.body()).required("name");
    exchange.json(201, withToken(volumes().create(TENANT, name, provider)));
  }

  private VolumeView require(Exchange exchange) {
    return volumes()
        .find(TENANT, exchange.path("volume"))
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.VOLUME_NOT_FOUND, "the volume does not exist", "list the volumes")
                    .exception());
  }

  private Map<String, Object> withToken(VolumeView volume) {
    Map<String, Object> json = json(volume);
    json.put("token", tokens.issue(volume.id()));
    return json;
  }

  private void remove(Exchange exchange) throws IOException {
    VolumeView volume = require(exchange);
    volumes().remove(TENANT, volume.name());
    tokens.revokeAll(volume.id());
    exchange.noContent();
  }

  private static Map<String, Object> json(VolumeView volume) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("volumeID", volume.id());
    json.put("name", volume.name());
    return json;
  }
}
