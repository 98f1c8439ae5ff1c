package dev.isola.compat.mcp;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.SandboxIds;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;

/** Finds the sandbox of a call, and creates sandboxes. */
record ToolSandboxes(ServerContext context, HostAccessGuard hostAccess, String defaultProvider) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration IDLE_TIMEOUT = Duration.ofHours(1);
  private static final Duration LONGEST_TTL = Duration.ofDays(1);
  private static final Duration CREATE_TIMEOUT = Duration.ofMinutes(1);

  /** Returns the sandbox of a call, which must exist. */
  SandboxView require(ToolCall call) {
    Optional<String> named = call.text("sandbox");
    String reference =
        named
            .or(call::defaultSandbox)
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.INVALID_REQUEST,
                            "the call names no sandbox, and the client has no session",
                            "call create_sandbox and pass its result as 'sandbox'")
                        .exception());
    SandboxView found =
        find(reference)
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.SANDBOX_NOT_FOUND,
                            named.isPresent()
                                ? "no sandbox has this name or id"
                                : "the session has no sandbox yet, or it has ended",
                            "call create_sandbox, or list_sandboxes to find others")
                        .exception());
    return checked(call.exchange(), found);
  }

  /** Returns the sandbox of a call. The sandbox of the session is created if it does not exist. */
  SandboxView requireOrCreate(ToolCall call) {
    Optional<String> name = call.defaultSandbox().filter(_ -> call.text("sandbox").isEmpty());
    if (name.isEmpty() || find(name.get()).isPresent()) {
      return awaitCreated(require(call));
    }
    try {
      return create(call.exchange(), Map.of(), name, Optional.empty());
    } catch (Conflict another) {
      return awaitCreated(require(call)); // of two calls, one creates it
    }
  }

  /** Returns the sandbox with an id, which must exist. */
  SandboxView require(Exchange exchange, SandboxId id) {
    return checked(exchange, context.sandboxes().view(id));
  }

  private SandboxView checked(Exchange exchange, SandboxView found) {
    exchange.setSandbox(found.id());
    hostAccess.check(exchange.key(), found.id());
    if (exchange.isOwnedElsewhere(found.id())) {
      throw new OwnedElsewhere(found.id());
    }
    return found;
  }

  /** Finds a sandbox by its name or its id. */
  private Optional<SandboxView> find(String reference) {
    Optional<SandboxView> named = findNamed(reference);
    Optional<SandboxId> id = SandboxIds.find(reference);
    if (named.isPresent() || id.isEmpty()) {
      return named;
    }
    try {
      return Optional.of(context.sandboxes().view(id.get()));
    } catch (NotFound e) {
      return Optional.empty();
    }
  }

  private Optional<SandboxView> findNamed(String name) {
    return context
        .sandboxes()
        .list(SandboxListFilter.ALL.notDestroyed().pooled(false).name(name), "", 1)
        .entries()
        .stream()
        .findFirst();
  }

  private SandboxView awaitCreated(SandboxView entry) {
    if (entry.state() != SandboxState.CREATING) {
      return entry;
    }
    try {
      return context
          .sandboxes()
          .awaitState(
              entry.id(), EnumSet.complementOf(EnumSet.of(SandboxState.CREATING)), CREATE_TIMEOUT)
          .orElse(entry);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cancelled(e);
    }
  }

  static SandboxException cancelled(InterruptedException e) {
    return Fault.of(ErrorCode.CANCELLED, "the client cancelled the call", "call again")
        .exception(e);
  }

  /**
   * Creates a sandbox that ends when it was not used for an hour, and after a day at the latest
   * unless the server has another default.
   *
   * @param document fields of the spec
   */
  SandboxView create(
      Exchange exchange,
      Map<String, Object> document,
      Optional<String> name,
      Optional<Duration> ttl) {
    CreateRequest parsed = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
    String provider =
        context.engine().snapshots().requiredProvider(parsed.spec()).orElse(defaultProvider);
    CreateRequest request =
        parsed
            .withProvider(ProviderNames.canonical(provider))
            .withTtl(ttl.or(context.engine()::defaultTtl).orElse(LONGEST_TTL))
            .withIdleTimeout(IDLE_TIMEOUT);
    SandboxRequest complete = SandboxRequest.of(request);
    if (ttl.isEmpty()) {
      complete = complete.withDefaultTtl();
    }
    if (name.isPresent()) {
      complete = complete.withName(name.get());
    }
    SandboxView view =
        context.engine().creator().create(KeyPolicy.apply(exchange, complete)).view();
    exchange.setSandbox(view.id());
    return view;
  }

  /** Destroys the sandbox with a name; does nothing if there is none. */
  void destroyNamed(Exchange exchange, String name) {
    Optional<SandboxView> found = findNamed(name);
    if (found.isPresent()) {
      context.sandboxes().destroy(checked(exchange, found.get()).id(), DestroyOptions.NORMAL);
    }
  }
}
