package dev.isola.server.api;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Session;
import dev.isola.server.auth.SessionCookie;
import dev.isola.server.auth.Sessions;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes for the session of a browser, which holds a cookie in place of a key. */
record SessionRoutes(ApiKeys keys, String version) {
  private static final String TEMPLATE = "/api/v1/session";
  private static final Shape CREDENTIAL = new Shape.NonEmptyText(512);

  private static final Shape SESSION =
      new Shape.Obj(
              Field.required("actor", Shapes.WORD, "name of the key in the logs").example("ci"),
              Field.required("scope", KeyRoutes.SCOPE, "what the client may do"),
              Field.optional("sandbox", Shapes.SANDBOX_ID, "the only sandbox, for a sandbox token"),
              Field.optional(
                  "expiresAt",
                  Shapes.TIME,
                  "when the session expires unless it is used, or the token; absent for a key"),
              Field.required("version", Shapes.WORD, "version of the server").example("1.0.0"))
          .named("Session");

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                TEMPLATE,
                "createSession",
                "Creates a session for a browser and sets its cookie. Requests of pages of this"
                    + " server with the cookie need no key.")
            .withoutKey()
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.optional("key", CREDENTIAL, "an API key").example("isk_..."),
                        Field.optional("token", CREDENTIAL, "a sandbox token; alternative to key")),
                    true))
            .answers(Response.json(200, SESSION))
            .handledBy(this::create),
        Route.of(
                "GET",
                TEMPLATE,
                "getSession",
                "Describes the session, or the key or token of the request.")
            .acceptsSandboxTokens(Route.TokenAccess.ANY)
            .answers(Response.json(200, SESSION))
            .handledBy(this::describe),
        Route.of("DELETE", TEMPLATE, "endSession", "Ends the session and deletes its cookie.")
            .acceptsSandboxTokens(Route.TokenAccess.ANY)
            .handledBy(this::end));
  }

  private void create(Exchange exchange) throws IOException {
    List<String> given =
        Stream.of("key", "token")
            .flatMap(field -> Optional.ofNullable((String) exchange.body().get(field)).stream())
            .toList();
    if (given.size() != 1) {
      throw Query.invalid(List.of(new Violation("key", "or token must be given, and not both")));
    }
    ApiKey key = exchange.authenticate(given.getFirst());
    Session session = create(exchange, keys, key, keys.tokens().find(given.getFirst()));
    exchange.json(200, view(key, session.token(), Optional.of(session.expiresAt())));
  }

  /** Creates a session and sets its cookie. */
  static Session create(Exchange exchange, ApiKeys keys, ApiKey key, Optional<SandboxToken> token) {
    Sessions.CreatedSession created = keys.sessions().create(key, token);
    Session session = created.session();
    exchange.addHeader(
        "Set-Cookie",
        cookie(exchange)
            .set(created.secret(), Duration.between(session.createdAt(), session.lastExpiry())));
    return session;
  }

  private void describe(Exchange exchange) throws IOException {
    ApiKey key = exchange.key().orElseThrow();
    Optional<Session> session = exchange.session();
    Optional<SandboxToken> token =
        session.isPresent() ? session.get().token() : bearer(exchange).flatMap(keys.tokens()::find);
    exchange.json(
        200,
        view(
            key,
            token,
            session.map(Session::expiresAt).or(() -> token.map(SandboxToken::expiresAt))));
  }

  /** Returns the credential of a request that has no session. */
  private static Optional<String> bearer(Exchange exchange) {
    return Credentials.of(name -> exchange.header(name).stream().toList()).secrets().stream()
        .findFirst();
  }

  private Map<String, Object> view(
      ApiKey key, Optional<SandboxToken> token, Optional<Instant> expiresAt) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("actor", key.name());
    json.put("scope", key.scope().word());
    token.ifPresent(one -> json.put("sandbox", one.sandbox().value()));
    expiresAt.ifPresent(time -> json.put("expiresAt", time.toString()));
    json.put("version", version);
    return json;
  }

  private void end(Exchange exchange) throws IOException {
    exchange.session().ifPresent(keys.sessions()::end);
    exchange.addHeader("Set-Cookie", cookie(exchange).clear());
    exchange.noContent();
  }

  private static SessionCookie cookie(Exchange exchange) {
    return SessionCookie.of(exchange.header("Host").orElse(""), exchange.isSecure());
  }
}
