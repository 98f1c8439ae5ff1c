package dev.isola.server.access;

import dev.isola.engine.api.NamedSecret;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import java.util.Optional;

/** What the key of a client permits, the same in every API. */
public final class KeyPolicy {
  private KeyPolicy() {}

  /** Returns the request with what the key permits, and with what it demands of all requests. */
  public static SandboxRequest apply(Exchange exchange, SandboxRequest request) {
    SandboxRequest permitted =
        HostAccessGuard.mayRequestHostAccess(exchange) ? request.withHostAccess() : request;
    SandboxRequest named = keyName(exchange).map(permitted::withKey).orElse(permitted);
    return exchange.key().filter(ApiKey::strictNoFallback).isPresent()
        ? named.withRequest(named.request().strict())
        : named;
  }

  /** Returns the name of the client's key; empty for the token of a sandbox. */
  public static Optional<String> keyName(Exchange exchange) {
    return exchange.key().filter(key -> !key.isToken()).map(ApiKey::name);
  }

  /** Returns whether a client may see a named secret: with scope admin, or to use it. */
  public static boolean sees(Exchange exchange, NamedSecret secret) {
    return exchange.key().filter(key -> key.scope().allows(Scope.ADMIN)).isPresent()
        || secret.allows(keyName(exchange));
  }
}
