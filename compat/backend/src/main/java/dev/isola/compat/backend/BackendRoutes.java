package dev.isola.compat.backend;

import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.GuestProtocolAccess;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Operations on one sandbox, and on all of a peer. */
record BackendRoutes(ServerContext context, PeerSandboxes sandboxes, PeerCreation creation) {
  private static final String PREFIX = "/backend/v1";
  private static final String CHANNEL_PROTOCOL = "isola-channel";
  private static final String SECRET_HEADER = "Isola-Channel-Secret";
  private static final int SECRET_SIZE = 32;
  private static final Shape KEY = new Shape.NonEmptyText(32);
  static final Shape WORD = new Shape.NonEmptyText(256);

  List<Route> routes() {
    return List.of(
        route("GET", "/info", "backendInfo", "Describes this server as a backend.")
            .needs(Scope.READ)
            .takes(Parameter.query("provider", WORD, "a provider of this server"))
            .handledBy(exchange -> exchange.json(200, new BackendInfo(context).describe(exchange))),
        route("GET", "/sandboxes", "backendInventory", "Lists the sandboxes of a peer.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("instance", WORD, "the installation of the peer"),
                Parameter.query("after", WORD, "next of the previous page"))
            .handledBy(this::inventory),
        one("PUT", "", "backendCreate", "Creates a sandbox for a peer.").handledBy(this::create),
        one("GET", "", "backendGet", "Describes a sandbox of a peer.")
            .needs(Scope.READ)
            .handledBy(
                exchange -> exchange.json(200, sandboxes.describe(sandboxes.require(exchange)))),
        one("DELETE", "", "backendDestroy", "Destroys a sandbox of a peer.")
            .takes(Parameter.query("force", new Shape.Flag(), "also if it has unsaved work"))
            .handledBy(this::destroy),
        one("GET", "/channel", "backendChannel", "Opens a channel to the guest agent.")
            .handledBy(this::channel),
        one("POST", "/pause", "backendPause", "Pauses a sandbox of a peer.").handledBy(this::pause),
        one("POST", "/resume", "backendResume", "Resumes a sandbox of a peer.")
            .handledBy(this::resume),
        one("POST", "/renew", "backendRenew", "Sets when a sandbox of a peer ends.")
            .handledBy(this::renew),
        one("GET", "/usage", "backendUsage", "Measures a sandbox of a peer.")
            .needs(Scope.READ)
            .handledBy(this::usage));
  }

  static Route route(String method, String rest, String name, String summary) {
    Route route =
        Route.of(method, PREFIX + rest, name, summary).needs(Scope.USE).of(new BackendDialect());
    return method.equals("PUT") || method.equals("POST")
        ? route.takes(new Route.Body.Json(new AnyObjectShape(), false))
        : route;
  }

  static Route one(String method, String rest, String name, String summary) {
    return route(method, "/sandboxes/{key}" + rest, name, summary)
        .takes(Parameter.path("key", KEY, "the id that the peer chose"));
  }

  private void inventory(Exchange exchange) throws IOException {
    String instance =
        exchange
            .query("instance")
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.INVALID_REQUEST,
                            "the parameter instance is missing",
                            "name the installation whose sandboxes to list")
                        .exception());
    SandboxPage page = sandboxes.list(instance, exchange.query("after").orElse(""));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxes", page.entries().stream().map(sandboxes::json).toList());
    page.next().ifPresent(next -> json.put("next", next));
    exchange.json(200, json);
  }

  private void create(Exchange exchange) throws IOException {
    PeerCreation.Result result = creation.create(exchange, new PeerRequest(exchange.body()));
    exchange.json(result.created() ? 201 : 200, sandboxes.describe(result.view()));
  }

  private void destroy(Exchange exchange) throws IOException {
    if (sandboxes.find(exchange.path("key")).isPresent()) {
      SandboxView entry = sandboxes.require(exchange);
      boolean force = exchange.query("force").map(Boolean::parseBoolean).orElse(false);
      context.sandboxes().destroy(entry.id(), force ? DestroyOptions.FORCE : DestroyOptions.NORMAL);
    }
    exchange.noContent();
  }

  private void channel(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    Secret secret = secret(exchange.header(SECRET_HEADER));
    GuestProtocolAccess access =
        context
            .sandboxes()
            .get(entry.id())
            .guestProtocol()
            .orElseThrow(() -> PeerSandboxes.unsupported(entry, "the guest protocol"));
    exchange.upgrade(CHANNEL_PROTOCOL, access.open(secret));
  }

  private static Secret secret(Optional<String> header) {
    try {
      byte[] bytes = Base64.getDecoder().decode(header.orElse(""));
      if (bytes.length == SECRET_SIZE) {
        return Secret.of(bytes);
      }
    } catch (IllegalArgumentException notBase64) {
      // Reported below, without the value.
    }
    throw Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the header " + SECRET_HEADER + " is not " + SECRET_SIZE + " bytes in base64",
            "send the secret of the channel")
        .exception();
  }

  private void pause(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    PauseKind kind = new PeerRequest(exchange.body()).choice("kind", PauseKind.values());
    context.sandboxes().pause(entry.id(), kind);
    exchange.noContent();
  }

  private void resume(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    if (entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED) {
      context.sandboxes().resume(entry.id());
    }
    exchange.noContent();
  }

  private void renew(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    PeerRequest body = new PeerRequest(exchange.body());
    context
        .sandboxes()
        .renew(
            entry.id(),
            body.millis("ttlMs")
                .orElseThrow(
                    () ->
                        Fault.of(
                                ErrorCode.INVALID_REQUEST,
                                "ttlMs is missing",
                                "send the time in milliseconds")
                            .exception()));
    exchange.noContent();
  }

  private void usage(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    UsageReporting.Usage usage = sandboxes.capability(entry, UsageReporting.class).usage();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("cpuMs", usage.cpuTime().toMillis());
    json.put("memoryBytes", usage.memoryBytes());
    json.put("memoryPeakBytes", usage.memoryPeakBytes());
    usage.diskBytes().ifPresent(bytes -> json.put("diskBytes", bytes));
    usage.receivedBytes().ifPresent(bytes -> json.put("receivedBytes", bytes));
    usage.sentBytes().ifPresent(bytes -> json.put("sentBytes", bytes));
    json.put("processes", usage.processes());
    json.put("uptimeMs", usage.uptime().toMillis());
    exchange.json(200, json);
  }
}
