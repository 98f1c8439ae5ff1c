package dev.isola.compat.backend;

import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The sandboxes of peers. The id that a peer chose is the name of the sandbox here, because names
 * are unique and free again once a sandbox is destroyed. Sandboxes of other clients are never
 * found.
 */
record PeerSandboxes(ServerContext context, HostAccessGuard hostAccess) {
  static final String INSTANCE = "isola.peer.instance";
  static final String SANDBOX = "isola.peer.sandbox";
  static final String NOTE = "isola.peer.note";

  private static final int PAGE = 200;

  /** Returns the sandbox with the id of a request, which the key may use. */
  SandboxView require(Exchange exchange) {
    String key = exchange.path("key");
    SandboxView found =
        find(key)
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.SANDBOX_NOT_FOUND,
                            "no sandbox of a peer has the id " + key,
                            "create it")
                        .exception());
    exchange.setSandbox(found.id());
    hostAccess.check(exchange.key(), found.id());
    return found;
  }

  Optional<SandboxView> find(String key) {
    return context
        .sandboxes()
        .list(SandboxListFilter.ALL.notDestroyed().name(key), "", 1)
        .entries()
        .stream()
        .filter(entry -> entry.labels().containsKey(INSTANCE))
        .findFirst();
  }

  SandboxPage list(String instance, String after) {
    return context
        .sandboxes()
        .list(SandboxListFilter.ALL.notDestroyed().label(INSTANCE, instance), after, PAGE);
  }

  Map<String, Object> json(SandboxView entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", entry.name().orElse(""));
    json.put("instance", entry.labels().getOrDefault(INSTANCE, ""));
    json.put("sandbox", entry.labels().getOrDefault(SANDBOX, ""));
    Optional.ofNullable(entry.labels().get(NOTE)).ifPresent(note -> json.put("note", note));
    json.put("state", word(entry.state()));
    json.put("createdAt", entry.createdAt().toString());
    json.put("isolation", word(entry.isolation()));
    entry.cause().ifPresent(cause -> json.put("reason", cause));
    json.put("details", Map.of("provider", entry.provider(), "id", entry.id().value()));
    return json;
  }

  /** Adds what only a running sandbox can tell. */
  Map<String, Object> describe(SandboxView entry) {
    Map<String, Object> json = json(entry);
    if (entry.state() == SandboxState.RUNNING) {
      Sandbox sandbox = context.sandboxes().get(entry.id());
      sandbox
          .as(Snapshotting.class)
          .flatMap(Snapshotting::coverage)
          .ifPresent(coverage -> json.put("coverage", json(coverage)));
      List<String> kinds =
          sandbox
              .as(Pausing.class)
              .map(pausing -> pausing.kinds().stream().map(PeerSandboxes::word).sorted().toList())
              .orElse(List.of());
      json.put("pauseKinds", kinds);
    }
    return json;
  }

  private static Map<String, Object> json(Snapshotting.Coverage coverage) {
    Map<String, Object> json = new LinkedHashMap<>();
    coverage.image().ifPresent(image -> json.put("image", image));
    json.put("folders", coverage.folders());
    return json;
  }

  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  <C extends Capability> C capability(SandboxView entry, Class<C> type) {
    return context
        .sandboxes()
        .get(entry.id())
        .as(type)
        .orElseThrow(() -> unsupported(entry, Capability.idOf(type)));
  }

  static SandboxException unsupported(SandboxView entry, String what) {
    return Fault.of(
            ErrorCode.NOT_IMPLEMENTED,
            "provider " + entry.provider() + " does not support " + what,
            "choose another provider of this server")
        .exception();
  }
}
