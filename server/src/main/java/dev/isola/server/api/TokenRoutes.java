package dev.isola.server.api;

import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Answer;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Tokens for one sandbox, for whoever should have no key. */
record TokenRoutes(Serving serving, ApiKeys keys) {
  /** 30 days. */
  static final Shape TTL = new Shape.Whole(1, 2_592_000);

  private static final Shape KIND =
      new Shape.Choice(List.of(SandboxToken.Kind.USE.word(), SandboxToken.Kind.PREVIEW.word()));

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/tokens",
                "makeToken",
                "Makes a token that works for this sandbox only, until it expires or the sandbox"
                    + " ends.")
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.needed(
                            "scope", KIND, "use: all that scope use allows; preview: its ports"),
                        Field.needed("ttlSeconds", TTL, "from now")),
                    true))
            .answers(
                Answer.json(
                    201,
                    new Shape.Obj(
                        Field.needed("token", new Shape.Filled(512), "shown this once"),
                        Field.needed("scope", KIND, "what it is for"),
                        Field.needed("sandbox", Shapes.WORD, "where it works"),
                        Field.needed("expiresAt", Shapes.TIME, "when its time is up"))))
            .by(this::make));
  }

  private void make(Exchange exchange) throws IOException {
    SandboxId id = SandboxRoutes.id(exchange);
    serving.engine().entry(id);
    SandboxToken.Kind kind =
        exchange.text("scope").equals(SandboxToken.Kind.USE.word())
            ? SandboxToken.Kind.USE
            : SandboxToken.Kind.PREVIEW;
    SandboxToken token =
        new SandboxToken(kind, id, 0, keys.tokens().in(exchange.whole("ttlSeconds")));
    exchange.json(
        201,
        Map.of(
            "token", keys.tokens().sign(token),
            "scope", kind.word(),
            "sandbox", id.value(),
            "expiresAt", token.expiresAt().toString()));
  }
}
