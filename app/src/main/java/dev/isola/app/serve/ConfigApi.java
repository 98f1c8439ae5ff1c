package dev.isola.app.serve;

import dev.isola.engine.config.Config;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shows operators the configuration of the running server; secrets are masked. */
record ConfigApi(Config config) implements ApiExtension {
  private static final Shape TEXT = new Shape.Text(100_000, "");

  private static final Shape VALUE =
      new Shape.Obj(
              Field.required("key", TEXT, "the full key").example("admission.memory_mb"),
              Field.required("value", TEXT, "its value; secrets are masked").example("16384"),
              Field.required("from", TEXT, "where it was set, or default").example("default"))
          .named("ConfigValue");

  @Override
  public List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/config",
                "getConfig",
                "Returns the configuration of the server with the origin of each value.")
            .needs(Scope.ADMIN)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "values", new Shape.ListOf(VALUE, 10_000), "in a stable order"))
                        .named("ServerConfig")))
            .handledBy(this::show));
  }

  private void show(Exchange exchange) throws IOException {
    exchange.json(200, Map.of("values", config.entries().stream().map(ConfigApi::json).toList()));
  }

  private static Map<String, Object> json(Config.Entry entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("key", entry.key());
    json.put("value", entry.value());
    json.put("from", entry.origin().description());
    return json;
  }
}
