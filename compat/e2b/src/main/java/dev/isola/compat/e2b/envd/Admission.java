package dev.isola.compat.e2b.envd;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.engine.api.Page;
import dev.isola.engine.api.SandboxFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/** Who may read and write content: one with the sandbox's token, or with a URL that he signed. */
record Admission(Serving serving, ApiKeys keys, InstantSource clock, Semaphore searches) {
  /** Nobody who shows nothing may make us look for longer, or more often than this at once. */
  private static final int MOST_PAGES = 20;

  private static final int AT_ONCE = 2;
  private static final SandboxFilter LIVING =
      SandboxFilter.ALL.states(SandboxState.RUNNING, SandboxState.PAUSED, SandboxState.STOPPED);

  Admission(Serving serving, ApiKeys keys) {
    this(serving, keys, InstantSource.system(), new Semaphore(AT_ONCE));
  }

  /** Refuses who has neither. */
  void check(Exchange exchange, SandboxId sandbox, String operation) {
    Optional<String> token = exchange.header(E2bCredentials.ENVD_HEADER);
    if (token.isPresent()) {
      if (!keys.tokens().isSteady(sandbox, E2bCredentials.ENVD, token.get())) {
        throw Signature.refused("unauthorized access, please provide a valid access token");
      }
      exchange.actor(E2bCredentials.ENVD_ACTOR);
      return;
    }
    Signature signature =
        Signature.of(exchange, operation)
            .orElseThrow(() -> Signature.refused("missing signature query parameter"));
    if (!signature.isGoodWith(keys.tokens().steady(sandbox, E2bCredentials.ENVD).reveal())) {
      throw Signature.refused("invalid signature");
    }
    exchange.actor(E2bCredentials.SIGNED_URL_ACTOR);
    signature.refuseExpired(clock.instant());
  }

  /** Finds the sandbox whose token signed a URL, which does not name it. */
  SandboxId find(Exchange exchange, String operation) {
    Signature signature =
        Signature.of(exchange, operation)
            .orElseThrow(() -> Signature.refused("missing signature query parameter"));
    if (!searches.tryAcquire()) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "too many signed URLs are looked at",
              "try again in a moment, or send E2b-Sandbox-Id")
          .exception();
    }
    try {
      SandboxId found =
          signedBy(signature).orElseThrow(() -> Signature.refused("invalid signature"));
      exchange.actor(E2bCredentials.SIGNED_URL_ACTOR);
      signature.refuseExpired(clock.instant());
      return found;
    } finally {
      searches.release();
    }
  }

  private Optional<SandboxId> signedBy(Signature signature) {
    String cursor = "";
    for (int pages = 0; pages < MOST_PAGES; pages++) {
      Page page = serving.engine().list(LIVING, cursor, Page.MAX_LIMIT);
      for (SandboxView entry : page.entries()) {
        if (signature.isGoodWith(keys.tokens().steady(entry.id(), E2bCredentials.ENVD).reveal())) {
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
