package dev.isola.server.api;

import dev.isola.engine.api.NamedSecret;
import dev.isola.engine.api.SecretKeyRotation;
import dev.isola.engine.api.SecretRequest;
import dev.isola.engine.api.secret.SecretService;
import dev.isola.server.access.KeyPolicy;
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
import dev.isola.spi.Secret;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Routes that store, describe and remove secrets. No response contains a value. A client with scope
 * use sees the secrets that its key may use.
 */
record SecretRoutes(ServerContext context) {
  private static final String TEMPLATE = "/api/v1/secrets";

  private static final Shape NAME =
      new MatchingText(
          "^" + SecretRequest.NAME + "$",
          64,
          "must be at most 64 letters, digits, . _ and -, and start with a letter or digit",
          "github");

  private static final Parameter SECRET = Parameter.path("name", NAME, "name of the secret");
  private static final Shape HOST =
      new MatchingText(
          "^[A-Za-z0-9_.*-]{1,255}$",
          255,
          "must be a host name, or *.SUFFIX for every name beneath it",
          "api.example.com");
  private static final Shape HOSTS = new Shape.ListOf(HOST, SecretRequest.MAX_HOSTS);
  private static final Shape KEYS = new Shape.ListOf(KeyRoutes.NAME, SecretRequest.MAX_KEYS);
  private static final String KEYS_TEXT =
      "names of the API keys that may use it in a sandbox; without it, every key with scope use";

  private static final Shape.Obj SHAPE =
      new Shape.Obj(
              Field.required("name", NAME, "name of the secret"),
              Field.required("hosts", HOSTS, "the hosts that receive the value"),
              Field.optional("keys", KEYS, KEYS_TEXT),
              Field.required(
                      "placeholder",
                      new Shape.NonEmptyText(2 * SecretRequest.MAX_BYTES),
                      "what sandboxes have in place of the value")
                  .example("ghp_x4Kd8sQm2LwV7bTz"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("updatedAt", Shapes.TIME, "time of the last change"))
          .named("Secret");

  List<Route> routes() {
    return List.of(
        Route.of("GET", TEMPLATE, "listSecrets", "Lists secrets without their values, by name.")
            .needs(Scope.USE)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "secrets",
                                new Shape.ListOf(SHAPE, SecretService.MAX_SECRETS),
                                "the secrets"))
                        .named("SecretList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "secrets",
                            secrets().list().stream()
                                .filter(one -> KeyPolicy.sees(exchange, one))
                                .map(SecretRoutes::json)
                                .toList()))),
        one("GET", "getSecret", "Describes a secret without its value.")
            .needs(Scope.USE)
            .answers(Response.json(200, SHAPE))
            .handledBy(this::get),
        one(
                "PUT",
                "putSecret",
                "Stores a secret, or replaces its value, hosts and keys. No response contains the"
                    + " value.")
            .needs(Scope.ADMIN)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                                "value",
                                new Shape.NonEmptyText(SecretRequest.MAX_BYTES),
                                "the value: printable ASCII, at most 64 KiB")
                            .example("ghp_planted"),
                        Field.required("hosts", HOSTS, "the hosts that receive the value"),
                        Field.optional("keys", KEYS, KEYS_TEXT)),
                    true))
            .answers(Response.json(200, SHAPE))
            .handledBy(this::put),
        one(
                "DELETE",
                "removeSecret",
                "Removes a secret. Sandboxes keep their placeholder, which no host receives the"
                    + " value for any more.")
            .needs(Scope.ADMIN)
            .handledBy(
                exchange -> {
                  secrets().remove(exchange.path("name"));
                  exchange.noContent();
                }),
        Route.of(
                "POST",
                "/api/v1/secret-key/rotate",
                "rotateSecretKey",
                "Encrypts all secrets with another key and drops the old one.")
            .needs(Scope.ADMIN)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("keyId", Shapes.WORD, "id of the key in use")
                                .example("9f86d081884c7d65"),
                            Field.required(
                                "values", Shapes.COUNT, "number of values encrypted again"))
                        .named("SecretKeyRotation")))
            .handledBy(this::rotate));
  }

  private static Route one(String method, String name, String summary) {
    return Route.of(method, TEMPLATE + "/{name}", name, summary).takes(SECRET);
  }

  private SecretService secrets() {
    return context.engine().secrets();
  }

  private void get(Exchange exchange) throws IOException {
    NamedSecret secret = secrets().get(exchange.path("name"));
    if (!KeyPolicy.sees(exchange, secret)) {
      throw NamedSecret.notFound(secret.name());
    }
    exchange.json(200, json(secret));
  }

  private void put(Exchange exchange) throws IOException {
    exchange.json(
        200,
        json(
            secrets()
                .put(
                    new SecretRequest(
                        exchange.path("name"),
                        Secret.of(exchange.text("value")),
                        texts(exchange.body().get("hosts")),
                        texts(exchange.body().get("keys"))))));
  }

  private void rotate(Exchange exchange) throws IOException {
    SecretKeyRotation rotation = secrets().rotateKey();
    exchange.json(200, Map.of("keyId", rotation.keyId(), "values", rotation.values()));
  }

  private static List<String> texts(@Nullable Object list) {
    return list instanceof List<?> all ? all.stream().map(String::valueOf).toList() : List.of();
  }

  private static Map<String, Object> json(NamedSecret secret) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", secret.name());
    json.put("hosts", secret.hosts());
    if (!secret.keys().isEmpty()) {
      json.put("keys", secret.keys());
    }
    json.put("placeholder", secret.placeholder());
    json.put("createdAt", secret.createdAt().toString());
    json.put("updatedAt", secret.updatedAt().toString());
    return json;
  }
}
