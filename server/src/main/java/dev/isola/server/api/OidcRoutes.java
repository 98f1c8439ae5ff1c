package dev.isola.server.api;

import dev.isola.server.auth.Actor;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.SessionCookie;
import dev.isola.server.oidc.OidcSignIn;
import dev.isola.server.oidc.SignInException;
import dev.isola.server.oidc.SignInProblem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Routes by which a browser signs in with an OpenID Connect provider. They answer with redirects: a
 * failure leads to the sign-in page of the dashboard, which says what to do.
 */
record OidcRoutes(Optional<OidcSignIn> signIn, ApiKeys keys) {
  private static final String HOME = "/ui";
  private static final String PROBLEM = HOME + "#/sign-in?problem=";
  private static final String COMPLETE = "completeOidcSignIn";

  /** A page of the dashboard. Nothing else, because any link can begin a sign-in. */
  private static final Shape RETURN =
      new MatchingText(
          "^/ui(#/[A-Za-z0-9/_.~?=&%-]{0,500})?$",
          512, "must be /ui, with the rest of the address after a #", "/ui#/sandboxes");

  private static final Shape TEXT = new Shape.NonEmptyText(4096);

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/v1/session/oidc",
                "beginOidcSignIn",
                "Sends a browser to the OpenID Connect provider to sign in. Refused if none is"
                    + " configured.")
            .withoutKey()
            .takes(
                Parameter.query(
                    "return", RETURN, "page of the dashboard to open afterwards; default /ui"))
            .answers(new Response(303, "", Optional.empty(), "redirect"))
            .handledBy(this::begin));
  }

  /** Returns the route to which the provider sends the browser back. */
  Route callback() {
    return Route.of(
            "GET",
            OidcSignIn.CALLBACK,
            COMPLETE,
            "Completes a sign-in that the browser began, and sets the cookie of its session.")
        .withoutKey()
        .takes(
            Parameter.query("code", TEXT, "the authorization code"),
            Parameter.query("state", TEXT, "the state of the authorization request"),
            Parameter.query("error", TEXT, "why there is no code"),
            Parameter.query("iss", TEXT, "the issuer (RFC 9207)"))
        .answers(new Response(303, "", Optional.empty(), "redirect"))
        .of(new OidcDialect())
        .handledBy(this::complete);
  }

  private void begin(Exchange exchange) throws IOException {
    try {
      OidcSignIn.Begun begun =
          configured()
              .begin(
                  (exchange.isSecure() ? "https://" : "http://") + host(exchange),
                  exchange.query("return").orElse(HOME));
      exchange.addHeader("Set-Cookie", cookie(exchange).set(begun.cookie(), OidcSignIn.LIFETIME));
      redirect(exchange, begun.location().toString());
    } catch (SignInException e) {
      redirect(exchange, PROBLEM + e.problem().word());
    }
  }

  private void complete(Exchange exchange) throws IOException {
    OidcSignIn configured = configured();
    if (exchange.isBlocked()) {
      redirect(exchange, PROBLEM + SignInProblem.TOO_MANY.word());
      return;
    }
    SessionCookie cookie = cookie(exchange);
    try {
      OidcSignIn.Completed completed =
          configured.complete(
              cookie.values(exchange.header("Cookie").stream().toList()),
              new OidcSignIn.Callback(
                  exchange.query("code"),
                  exchange.query("state"),
                  exchange.query("error"),
                  exchange.query("iss")));
      exchange.setActor(completed.key().name());
      exchange.addHeader("Set-Cookie", cookie.clear());
      SessionRoutes.create(exchange, keys, completed.key(), Optional.empty());
      redirect(exchange, completed.returnPath());
    } catch (SignInException e) {
      // A callback without a sign-in in progress costs nothing. Any page can make browsers send it,
      // which would block the sign-ins of their address, and fill the audit log.
      if (e.problem() != SignInProblem.EXPIRED) {
        exchange.recordAuthFailure();
        exchange.setActor(Actor.OIDC);
      }
      exchange.setOperation(COMPLETE, Optional.of(e.problem().code()));
      exchange.addHeader("Set-Cookie", cookie.clear());
      redirect(exchange, PROBLEM + e.problem().word());
    }
  }

  private OidcSignIn configured() {
    return signIn.orElseThrow(
        () ->
            Fault.of(
                    ErrorCode.NOT_IMPLEMENTED,
                    "sign-in with OpenID Connect is not configured",
                    "sign in with an API key, or set oidc.issuer, oidc.client_id and oidc.keys")
                .exception());
  }

  private static SessionCookie cookie(Exchange exchange) {
    return SessionCookie.ofSignIn(host(exchange), exchange.isSecure());
  }

  private static String host(Exchange exchange) {
    return exchange.header("Host").orElse("");
  }

  private static void redirect(Exchange exchange, String location) throws IOException {
    Map<String, String> headers =
        Map.of("Location", location, "Content-Length", "0", "Referrer-Policy", "no-referrer");
    try (OutputStream _ = exchange.begin(303, "text/html", headers)) {
      // The response has no body.
    }
  }
}
