package dev.isola.server.api;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Routes that create, list, change and revoke API keys. */
record KeyRoutes(ApiKeys keys) {
  static final Shape NAME =
      new MatchingText(
          "^[A-Za-z0-9_-]{1,64}$", 64, "must have 1 to 64 letters, digits, - and _", "ci");
  static final Shape SCOPE = new Shape.Choice("KeyScope", Scope.words());
  private static final String STRICT =
      "whether sandboxes created with the key never fall back to another provider; default false";
  private static final Shape.Obj KEY =
      new Shape.Obj(
              Field.required("name", NAME, "name of the key in the logs"),
              Field.required("scope", SCOPE, "scope of the key"),
              Field.optional("strictNoFallback", Shapes.FLAG, STRICT),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.optional("lastUsedAt", Shapes.TIME, "time of last use, to the minute"))
          .named("Key");

  List<Route> routes() {
    return List.of(
        Route.of("GET", "/api/v1/keys", "listKeys", "Lists API keys without their secrets.")
            .needs(Scope.ADMIN)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(Field.required("keys", new Shape.ListOf(KEY, 10_000), "by name"))
                        .named("KeyList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200, Map.of("keys", keys.all().stream().map(KeyRoutes::json).toList()))),
        Route.of(
                "POST",
                "/api/v1/keys",
                "makeKey",
                "Creates an API key. The response contains its secret, which cannot be retrieved"
                    + " later.")
            .needs(Scope.ADMIN)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("name", NAME, "letters, digits, - and _"),
                        Field.required("scope", SCOPE, "scope of the key"),
                        Field.optional("strictNoFallback", Shapes.FLAG, STRICT)),
                    true))
            .answers(
                Response.json(
                    201,
                    KEY.and(
                            Field.required("key", Shapes.WORD, "the secret of the key")
                                .example("isk_..."))
                        .named("CreatedKey")))
            .handledBy(this::create),
        Route.of(
                "PATCH",
                "/api/v1/keys/{name}",
                "updateKey",
                "Changes the policy of an API key. It applies to requests from now on.")
            .needs(Scope.ADMIN)
            .takes(Parameter.path("name", NAME, "name of the key"))
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                            "strictNoFallback",
                            Shapes.FLAG,
                            "whether sandboxes created with the key never fall back to another"
                                + " provider")),
                    true))
            .answers(Response.json(200, KEY))
            .handledBy(this::update),
        Route.of(
                "DELETE",
                "/api/v1/keys/{name}",
                "revokeKey",
                "Revokes an API key with immediate effect.")
            .needs(Scope.ADMIN)
            .takes(Parameter.path("name", NAME, "name of the key"))
            .handledBy(this::revoke));
  }

  private void create(Exchange exchange) throws IOException {
    String name = exchange.text("name");
    Scope scope = Scope.of(exchange.text("scope")).orElseThrow();
    boolean strict = Boolean.TRUE.equals(exchange.body().get("strictNoFallback"));
    ApiKeys.CreatedKey made = keys.create(name, scope, strict);
    Map<String, Object> json = json(made.key());
    json.put("key", Confidential.token(made.secret(), Scope.ADMIN));
    exchange.json(201, json);
  }

  private void update(Exchange exchange) throws IOException {
    boolean strict = Boolean.TRUE.equals(exchange.body().get("strictNoFallback"));
    ApiKey key = keys.update(exchange.path("name"), strict).orElseThrow(KeyRoutes::notFound);
    exchange.json(200, json(key));
  }

  private void revoke(Exchange exchange) throws IOException {
    if (!keys.revoke(exchange.path("name"))) {
      throw notFound();
    }
    exchange.noContent();
  }

  private static SandboxException notFound() {
    return Fault.of(ErrorCode.KEY_NOT_FOUND, "no key has this name", "list the keys").exception();
  }

  private static Map<String, Object> json(ApiKey key) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", key.name());
    json.put("scope", key.scope().word());
    if (key.strictNoFallback()) {
      json.put("strictNoFallback", true);
    }
    json.put("createdAt", key.createdAt().toString());
    key.lastUsedAt().ifPresent(at -> json.put("lastUsedAt", at.toString()));
    return json;
  }
}
