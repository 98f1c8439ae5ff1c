package dev.isola.server.api;

import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Issues tokens that are limited to one sandbox, for clients without an API key. */
record TokenRoutes(ServerContext context, ApiKeys keys) {
  /** 30 days. */
  static final Shape TTL = new Shape.WholeNumber(1, 2_592_000);

  private static final Shape KIND =
      new Shape.Choice(
          "TokenScope",
          Stream.of(SandboxToken.Kind.values()).map(SandboxToken.Kind::word).toList());

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/tokens",
                "makeToken",
                "Creates a token that is limited to this sandbox. Valid until it expires or the"
                    + " sandbox ends.")
            .needs(Scope.USE)
            .answeredByAnyServer()
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required(
                            "scope",
                            KIND,
                            "use: everything that scope use allows; read: what scope read allows;"
                                + " preview: access to ports"),
                        Field.required("ttlSeconds", TTL, "lifetime in seconds").example(600)),
                    true))
            .answers(
                Response.json(
                    201,
                    new Shape.Obj(
                            Field.required(
                                    "token",
                                    new Shape.NonEmptyText(512),
                                    "the token, which cannot be retrieved later")
                                .example("ist_..."),
                            Field.required("scope", KIND, "scope of the token"),
                            Field.required("sandbox", Shapes.SANDBOX_ID, "sandbox id"),
                            Field.required("expiresAt", Shapes.TIME, "expiry time"))
                        .named("Token")))
            .handledBy(this::create));
  }

  private void create(Exchange exchange) throws IOException {
    SandboxId id = exchange.sandbox();
    context.sandboxes().view(id);
    SandboxToken.Kind kind = SandboxToken.Kind.of(exchange.text("scope"));
    SandboxToken token =
        new SandboxToken(
            kind, id, 0, keys.tokens().expiryAfter(exchange.wholeNumber("ttlSeconds")));
    exchange.json(
        201,
        Map.of(
            "token", keys.tokens().sign(token),
            "scope", kind.word(),
            "sandbox", id.value(),
            "expiresAt", token.expiresAt().toString()));
  }
}
