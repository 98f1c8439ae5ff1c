package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.engine.api.NamedSecret;
import dev.isola.engine.api.SecretRequest;
import dev.isola.engine.api.secret.SecretService;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Routes for named secrets in E2B's API. A secret of Isola is bound to hosts, which E2B's requests
 * do not have: they are the metadata {@code hosts}, with commas between them. No response contains
 * a value.
 */
public record E2bSecretRoutes(ServerContext context) {
  private static final String HOSTS = "hosts";

  /** Returns all routes for secrets. */
  public List<Route> routes() {
    return List.of(
        route("GET", "/secrets", "e2bSecrets", "Lists secrets without their values.")
            .needs(Scope.USE)
            .handledBy(this::list),
        route("POST", "/secrets", "e2bSecret", "Stores a secret.").handledBy(this::create),
        route("GET", "/secrets/{secret}", "e2bGetSecret", "Describes a secret.")
            .needs(Scope.USE)
            .handledBy(exchange -> exchange.json(200, json(require(exchange)))),
        route("POST", "/secrets/{secret}", "e2bUpdateSecret", "Replaces the value of a secret.")
            .handledBy(this::update),
        route("DELETE", "/secrets/{secret}", "e2bRemoveSecret", "Removes a secret.")
            .handledBy(
                exchange -> {
                  secrets().remove(exchange.path("secret"));
                  exchange.noContent();
                }));
  }

  private static Route route(String method, String template, String name, String summary) {
    Route route =
        Route.of(method, template, name, summary).needs(Scope.ADMIN).of(E2bDialect.CONTROL);
    return method.equals("POST")
        ? route.takes(new Route.Body.Json(new AnyObjectShape(), false))
        : route;
  }

  private SecretService secrets() {
    return context.engine().secrets();
  }

  private void list(Exchange exchange) throws IOException {
    exchange.json(
        200,
        secrets().list().stream()
            .filter(one -> KeyPolicy.sees(exchange, one))
            .map(E2bSecretRoutes::json)
            .toList());
  }

  private NamedSecret require(Exchange exchange) {
    NamedSecret secret = secrets().get(exchange.path("secret"));
    if (!KeyPolicy.sees(exchange, secret)) {
      throw NamedSecret.notFound(secret.name());
    }
    return secret;
  }

  private void create(Exchange exchange) throws IOException {
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    String name = body.required("name");
    if (secrets().list().stream().anyMatch(one -> one.name().equals(name))) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "there is already a secret named " + name,
              "update it, or choose another name")
          .exception();
    }
    exchange.json(201, json(put(name, body, hosts(body), List.of())));
  }

  /** Replaces the value; the hosts too if the request has them. */
  private void update(Exchange exchange) throws IOException {
    NamedSecret before = require(exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    if (body.text("value").isEmpty()) {
      throw E2bRequestBody.invalidField(
          "value", "must be present: the hosts of a secret change only together with its value");
    }
    List<String> hosts = body.object("metadata").isPresent() ? hosts(body) : before.hosts();
    exchange.json(200, json(put(before.name(), body, hosts, before.keys())));
  }

  private NamedSecret put(String name, E2bRequestBody body, List<String> hosts, List<String> keys) {
    return secrets().put(new SecretRequest(name, Secret.of(body.required("value")), hosts, keys));
  }

  private static List<String> hosts(E2bRequestBody body) {
    Map<String, String> metadata = body.map("metadata");
    String hosts = metadata.getOrDefault(HOSTS, "");
    if (hosts.isBlank() || metadata.size() > 1) {
      throw E2bRequestBody.invalidField(
          "metadata",
          "must have hosts and nothing else: the hosts that receive the value, with commas between"
              + " them");
    }
    return Stream.of(hosts.split(",")).map(String::strip).toList();
  }

  private static Map<String, Object> json(NamedSecret secret) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("secretID", secret.name());
    json.put("name", secret.name());
    json.put("metadata", Map.of(HOSTS, String.join(",", secret.hosts())));
    json.put("currentVersion", secret.updatedAt().getEpochSecond());
    json.put("createdAt", secret.createdAt().toString());
    json.put("updatedAt", secret.updatedAt().toString());
    return json;
  }
}
