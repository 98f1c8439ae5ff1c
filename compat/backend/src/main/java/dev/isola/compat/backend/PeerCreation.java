package dev.isola.compat.backend;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkSource;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Creates sandboxes of peers. */
record PeerCreation(
    ServerContext context,
    PeerSandboxes sandboxes,
    PeerVolumes volumes,
    ForkPoints points,
    String defaultProvider) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MAX_WORD = 128;
  private static final int MAX_NOTE = 8192;

  /** Fields of the spec that the peer decides itself, or that belong to another request. */
  private static final List<String> NOT_PASSED_ON =
      List.of("id", "runtimeId", "ttlSeconds", "whenIdle", "whenExpired", "autoResume", "tags");

  private static final String ID_VARIABLE = "ISOLA_SANDBOX";
  private static final String LINGER = "lingerSeconds";

  /** A peer that was restarted needs some time to come back. */
  private static final Duration SHORTEST_LINGER = Duration.ofSeconds(60);

  /**
   * @param created false if the sandbox existed
   */
  record Result(SandboxView view, boolean created) {}

  Result create(Exchange exchange, PeerRequest body) {
    String key = exchange.path("key");
    String instance = body.text("instance", MAX_WORD);
    String sandbox = body.text("sandbox", MAX_WORD);
    Optional<SandboxView> existing = sandboxes.find(key);
    if (existing.isPresent()) {
      return new Result(awaitCreated(existing.get(), instance, sandbox), false);
    }
    CreateResult result =
        context
            .engine()
            .creator()
            .create(KeyPolicy.apply(exchange, request(body, key, instance, sandbox)));
    SandboxView view = result.view();
    exchange.setSandbox(view.id());
    if (result.sandbox().guestProtocol().isEmpty()) {
      context.sandboxes().destroy(view.id(), DestroyOptions.FORCE);
      throw PeerSandboxes.unsupported(view, "the guest protocol");
    }
    return new Result(view, true);
  }

  private SandboxRequest request(PeerRequest body, String key, String instance, String sandbox) {
    Map<String, Object> document = body.object("spec");
    NOT_PASSED_ON.forEach(document::remove);
    CreateRequest checked = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
    Optional<Duration> linger = checked.spec().linger().map(PeerCreation::idleTimeout);
    document.remove(LINGER);
    Optional<ForkPoints.Held> fork = body.optionalText("forkPoint", MAX_WORD).map(points::require);
    Optional<String> provider =
        fork.map(ForkPoints.Held::provider).or(() -> body.optionalText("provider", MAX_WORD));
    volumes.prepare(instance, provider.orElse(""), document);
    CreateRequest request =
        withId(SpecDocument.fromMap(document, () -> checked.spec().id()), sandbox);
    request = request.withProvider(ProviderNames.canonical(provider.orElse(defaultProvider)));
    if (provider.isPresent()) {
      request = request.strict(); // the peer relies on what this provider declares
    }
    request = body.millis("ttlMs").map(request::withTtl).orElse(request);
    request = linger.map(request::withIdleTimeout).orElse(request);
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put(PeerSandboxes.INSTANCE, instance);
    labels.put(PeerSandboxes.SANDBOX, sandbox);
    body.optionalText("note", MAX_NOTE).ifPresent(note -> labels.put(PeerSandboxes.NOTE, note));
    SandboxRequest complete =
        SandboxRequest.of(request).withLabels(labels).withName(key).withFixedId();
    return fork.map(one -> new ForkSource(one.point(), created -> {}))
        .map(complete::withForkSource)
        .orElse(complete);
  }

  /** Commands see the id that the clients of the peer know. */
  private static CreateRequest withId(CreateRequest request, String sandbox) {
    return request.spec().env().containsKey(ID_VARIABLE)
        ? request
        : request.with(request.spec().toBuilder().env(ID_VARIABLE, sandbox).build());
  }

  /**
   * A sandbox that must not outlive its peer ends when the peer has had no channel for that time.
   */
  private static Duration idleTimeout(Duration linger) {
    return linger.compareTo(SHORTEST_LINGER) < 0 ? SHORTEST_LINGER : linger;
  }

  /** Waits if an earlier request is still creating the sandbox. */
  private SandboxView awaitCreated(SandboxView entry, String instance, String sandbox) {
    boolean same =
        instance.equals(entry.labels().get(PeerSandboxes.INSTANCE))
            && sandbox.equals(entry.labels().get(PeerSandboxes.SANDBOX));
    if (!same) {
      throw conflict(entry, "belongs to another peer", "choose another id");
    }
    if (entry.state() == SandboxState.CREATING) {
      waitUntilCreated(entry);
    }
    SandboxView now = context.sandboxes().view(entry.id());
    return switch (now.state()) {
      case RUNNING, PAUSED, STOPPED -> now;
      case CREATING -> throw conflict(now, "is still being created", "try again");
      case ERROR, TERMINATING, DESTROYED ->
          throw conflict(now, "is " + PeerSandboxes.word(now.state()), "destroy it first");
    };
  }

  private void waitUntilCreated(SandboxView entry) {
    try {
      var _ =
          context
              .sandboxes()
              .waitForState(
                  entry.id(),
                  EnumSet.complementOf(EnumSet.of(SandboxState.CREATING)),
                  Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw conflict(entry, "is still being created", "try again");
    }
  }

  private static SandboxException conflict(SandboxView entry, String what, String remedy) {
    return Fault.of(ErrorCode.CONFLICT, "sandbox " + entry.name().orElse("") + " " + what, remedy)
        .exception();
  }
}
