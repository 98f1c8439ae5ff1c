package dev.isola.server.access;

import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.route.Exchange;

/** Applies the key of a client to its create requests, the same way in every API. */
public final class KeyPolicy {
  private KeyPolicy() {}

  /** Returns the request with what the key permits, and with what it demands of all requests. */
  public static SandboxRequest apply(Exchange exchange, SandboxRequest request) {
    SandboxRequest permitted =
        HostAccessGuard.mayRequestHostAccess(exchange) ? request.withHostAccess() : request;
    return exchange.key().filter(ApiKey::strictNoFallback).isPresent()
        ? permitted.withRequest(permitted.request().strict())
        : permitted;
  }
}
