package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.InsecureAccess;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Authorizes requests that read or write file content, either by the sandbox's token or by a signed
 * URL. A sandbox that needs no token accepts requests that present neither.
 */
record FileContentAuthorizer(
    ServerContext context,
    ApiKeys keys,
    InsecureAccess insecure,
    InstantSource clock,
    Semaphore searches) {
  /**
   * Limits on the search for the sandbox of a signed URL, because the request is not yet
   * authenticated: the number of pages per search and the number of concurrent searches.
   */
  private static final int MAX_PAGES = 20;

  private static final int MAX_SEARCHES = 2;
  private static final SandboxListFilter ACTIVE =
      SandboxListFilter.ALL.states(SandboxState.RUNNING, SandboxState.PAUSED, SandboxState.STOPPED);

  FileContentAuthorizer(ServerContext context, ApiKeys keys, InsecureAccess insecure) {
    this(context, keys, insecure, InstantSource.system(), new Semaphore(MAX_SEARCHES));
  }

  /**
   * Authorizes a request to a known sandbox, or throws if it has neither a valid token nor a valid
   * signature and the sandbox needs one.
   */
  void authorize(Exchange exchange, SandboxId sandbox, String operation) {
    Optional<String> token = exchange.header(E2bCredentials.ENVD_HEADER);
    if (token.isPresent()) {
      if (!keys.tokens().isStableToken(sandbox, E2bCredentials.ENVD, token.get())) {
        throw UrlSignature.unauthenticated(
            "unauthorized access, please provide a valid access token");
      }
      exchange.setActor(E2bCredentials.ENVD_ACTOR);
      return;
    }
    Optional<UrlSignature> presented = UrlSignature.of(exchange, operation);
    if (presented.isEmpty()
        && insecure.isOpen(sandbox, header -> exchange.header(header).isPresent())) {
      exchange.setActor(E2bCredentials.ANONYMOUS_ACTOR);
      return;
    }
    UrlSignature signature =
        presented.orElseThrow(
            () -> UrlSignature.unauthenticated("missing signature query parameter"));
    if (!signature.isValidFor(keys.tokens().stableToken(sandbox, E2bCredentials.ENVD).reveal())) {
      throw UrlSignature.unauthenticated("invalid signature");
    }
    exchange.setActor(E2bCredentials.SIGNED_URL_ACTOR);
    signature.checkNotExpired(clock.instant());
  }

  /** Finds the sandbox whose token signed a URL. The URL does not name the sandbox. */
  SandboxId findSigner(Exchange exchange, String operation) {
    UrlSignature signature =
        UrlSignature.of(exchange, operation)
            .orElseThrow(() -> UrlSignature.unauthenticated("missing signature query parameter"));
    if (!searches.tryAcquire()) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "too many signed URLs are being resolved",
              "try again in a moment, or send E2b-Sandbox-Id")
          .exception();
    }
    try {
      SandboxId found =
          signedBy(signature).orElseThrow(() -> UrlSignature.unauthenticated("invalid signature"));
      exchange.setActor(E2bCredentials.SIGNED_URL_ACTOR);
      signature.checkNotExpired(clock.instant());
      return found;
    } finally {
      searches.release();
    }
  }

  private Optional<SandboxId> signedBy(UrlSignature signature) {
    String cursor = "";
    for (int pages = 0; pages < MAX_PAGES; pages++) {
      SandboxPage page = context.sandboxes().list(ACTIVE, cursor, SandboxPage.MAX_LIMIT);
      for (SandboxView entry : page.entries()) {
        if (signature.isValidFor(
            keys.tokens().stableToken(entry.id(), E2bCredentials.ENVD).reveal())) {
          return Optional.of(entry.id());
        }
      }
      cursor = page.next().orElse("");
      if (cursor.isEmpty()) {
        break;
      }
    }
    return Optional.empty();
  }
}
