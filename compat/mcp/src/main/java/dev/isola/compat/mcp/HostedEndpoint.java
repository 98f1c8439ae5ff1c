package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.codec.time.Deadline;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonBody;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * Handles the requests to {@code /api/v1/sandboxes/{id}/mcp}: passes messages between clients of
 * both eras and the server that the sandbox hosts.
 */
final class HostedEndpoint {
  private static final String SESSION = "Mcp-Session-Id";
  private static final String META = "_meta";

  /** How soon a waiting thread notices that the server shuts down. */
  private static final Duration POLL = Duration.ofMillis(500);

  private static final String NAMESPACE = "io.modelcontextprotocol/";

  /** What clients without a session may ask a server of the era with sessions. */
  private static final Set<String> STATELESS =
      Set.of(
          "tools/list",
          "tools/call",
          "prompts/list",
          "prompts/get",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "completion/complete");

  private static final Set<String> CACHEABLE =
      Set.of(
          "tools/list",
          "prompts/list",
          "resources/list",
          "resources/templates/list",
          "resources/read");

  private final HostedServers servers;
  private final McpSessions sessions;

  HostedEndpoint(HostedServers servers, McpSessions sessions) {
    this.servers = servers;
    this.sessions = sessions;
  }

  /** A request with what is needed to answer it. */
  private record Request(
      Exchange exchange,
      SandboxId sandbox,
      HostedServer server,
      RpcMessage message,
      Object id,
      boolean modern,
      EventResponse response) {}

  /**
   * A session.
   *
   * @param letters what its client answers, see {@link HostedClient#letters}
   */
  private record Session(String word, String letters) {}

  void post(Exchange exchange) throws IOException {
    SandboxId sandbox = exchange.sandbox();
    HostedServer server = servers.require(sandbox);
    EventResponse response = new EventResponse(exchange);
    Optional<Object> id = Optional.empty();
    boolean modern = false;
    try {
      RpcMessage message = RpcMessage.parse(JsonBody.bytes(exchange.content(), JsonBody.MAX_BYTES));
      id = message.id();
      modern = ProtocolVersion.isModern(exchange, message);
      if (modern) {
        ProtocolVersion.checkModern(exchange, message);
      }
      Optional<Session> session = modern ? Optional.empty() : session(exchange, sandbox);
      if (message.id().isEmpty() || message.method().isEmpty()) {
        accept(server, message, session);
        exchange.begin(202, "application/json", Map.of()).close();
        return;
      }
      try (Exchange.DisconnectWatch _ = exchange.interruptOnDisconnect()) {
        answer(
            new Request(exchange, sandbox, server, message, message.id().get(), modern, response),
            session);
      }
    } catch (RpcError e) {
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("jsonrpc", "2.0");
      answer.put("id", id); // null if the message has none
      answer.put("error", e.json());
      response.answer(e.status(modern), Json.bytes(answer));
    } catch (InterruptedException e) {
      throw ToolSandboxes.cancelled(e); // the client has disconnected, or the server ends
    }
  }

  private Optional<Session> session(Exchange exchange, SandboxId sandbox) {
    Optional<String> header = exchange.header(SESSION);
    if (header.isEmpty()) {
      return Optional.empty();
    }
    int dot = header.get().indexOf('.');
    String letters = dot < 0 ? "" : header.get().substring(0, dot);
    Optional<String> word =
        sessions.find(key(exchange), purpose(sandbox, letters), header.get().substring(dot + 1));
    return Optional.of(
        new Session(
            word.orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.ROUTE_NOT_FOUND,
                            "the session has ended, or belongs to another key or sandbox",
                            "start a new session with initialize")
                        .exception()),
            letters));
  }

  private static String purpose(SandboxId sandbox, String letters) {
    return "hosted " + sandbox + " " + letters + " ";
  }

  private static ApiKey key(Exchange exchange) {
    return exchange.key().orElseThrow(() -> new IllegalStateException("the route needs a key"));
  }

  /** Accepts a notification or a response, neither of which is answered. */
  private static void accept(HostedServer server, RpcMessage message, Optional<Session> session) {
    if (session.isEmpty()) {
      return; // it refers to nothing that the server knows
    }
    String word = session.get().word();
    if (message.method().isEmpty()) {
      server.router().respond(word, message, server::send);
    } else if (message.isMethod("notifications/cancelled")) {
      Object id = message.params().get("requestId");
      if (id != null) {
        server.router().find(word, id).ifPresent(call -> cancel(server, call));
      }
    }
  }

  private static void cancel(HostedServer server, HostedCall call) {
    boolean _ =
        server.send(
            Json.object(
                "jsonrpc",
                "2.0",
                "method",
                "notifications/cancelled",
                "params",
                Json.object("requestId", call.id(), "reason", "cancelled by the client")));
    call.fail(RpcError.CANCELLED, "cancelled by the client");
  }

  private void answer(Request request, Optional<Session> session)
      throws RpcError, IOException, InterruptedException {
    RpcMessage message = request.message();
    String method = message.method().orElseThrow();
    if (request.modern() && !method.equals("server/discover") && !STATELESS.contains(method)) {
      throw new RpcError(
          RpcError.METHOD_NOT_FOUND, "the hosted server does not offer this without a session");
    }
    if (method.startsWith("tasks/") || message.params().containsKey("task")) {
      throw new RpcError(
          RpcError.METHOD_NOT_FOUND,
          "tasks are not offered, because all clients of a hosted server would see them");
    }
    if (method.equals("initialize")) {
      String letters =
          HostedClient.letters(RpcMessage.object(message.params().get("capabilities")));
      String own = sessions.open(key(request.exchange()), purpose(request.sandbox(), letters));
      request.exchange().addHeader(SESSION, letters + "." + own);
    }
    HostedServer.Connected connected = request.server().connect(() -> tick(request));
    switch (method) {
      case "initialize" ->
          result(request, connected.handshake().answer(message.text("protocolVersion")));
      case "server/discover" -> result(request, discover(request, connected.handshake()));
      case "resources/unsubscribe" -> {
        String uri = message.text("uri").orElse("");
        boolean shared =
            session.isPresent()
                && request.server().router().subscriptions().remove(session.get().word(), uri);
        if (shared) {
          result(request, new LinkedHashMap<>());
        } else {
          forward(request, session, connected);
        }
      }
      default -> {
        if (method.equals("resources/subscribe") && session.isPresent()) {
          message
              .text("uri")
              .ifPresent(
                  uri -> request.server().router().subscriptions().add(session.get().word(), uri));
        }
        forward(request, session, connected);
      }
    }
  }

  private static void tick(Request request) throws IOException {
    if (request.response().acceptsEvents()) {
      request.response().keepAlive();
    }
  }

  private static void result(Request request, Map<String, Object> result) throws IOException {
    request
        .response()
        .answer(
            200, Json.bytes(Json.object("jsonrpc", "2.0", "id", request.id(), "result", result)));
  }

  private static Map<String, Object> discover(Request request, Handshake handshake)
      throws RpcError {
    if (!request.modern()) {
      throw new RpcError(RpcError.METHOD_NOT_FOUND, "unknown method");
    }
    Map<String, Object> capabilities = new LinkedHashMap<>(handshake.capabilities());
    capabilities.remove("logging");
    Map<String, Object> found =
        Json.object(
            "supportedVersions", List.of(ProtocolVersion.MODERN), "capabilities", capabilities);
    handshake.instructions().ifPresent(text -> found.put("instructions", text));
    return complete(found, handshake, true);
  }

  /** Adds what a result has since 2026-07-28. */
  private static Map<String, Object> complete(
      Map<String, Object> result, Handshake handshake, boolean cacheable) {
    result.put("resultType", "complete");
    if (cacheable) {
      // The answers may differ between requests, and the host cannot tell.
      result.put("ttlMs", 0);
      result.put("cacheScope", "private");
    }
    Map<String, Object> meta = RpcMessage.object(result.get(META));
    meta.put(NAMESPACE + "serverInfo", handshake.serverInfo());
    result.put(META, meta);
    return result;
  }

  private void forward(Request request, Optional<Session> session, HostedServer.Connected connected)
      throws RpcError, IOException, InterruptedException {
    RpcMessage message = request.message();
    String method = message.method().orElseThrow();
    Map<String, Object> meta = message.meta();
    UnaryOperator<Map<String, Object>> result =
        request.modern()
            ? one -> complete(one, connected.handshake(), CACHEABLE.contains(method))
            : UnaryOperator.identity();
    Optional<Object> progressToken =
        Optional.ofNullable(meta.get("progressToken"))
            .filter(token -> token instanceof String || token instanceof Number);
    HostedServer server = request.server();
    HostedCall call =
        server.router().begin(client(request, session, meta), request.id(), progressToken, result);
    boolean answered = false;
    try {
      if (!connected.connection().send(forwarded(call, method, message, meta))) {
        throw new RpcError(
            RpcError.HOSTED_SERVER, "the hosted server has ended, or does not read its input");
      }
      await(request, call);
      answered = true;
    } finally {
      if (!answered && request.modern()) {
        cancel(server, call); // the client has closed the connection
      }
      server.router().end(call, server::send);
      server.touch();
    }
  }

  private static HostedClient client(
      Request request, Optional<Session> session, Map<String, Object> meta) {
    boolean events = request.response().acceptsEvents();
    String letters = session.map(Session::letters).orElse("");
    return new HostedClient(
        session.map(Session::word).orElseGet(() -> UUID.randomUUID().toString()),
        events,
        !request.modern() || meta.containsKey(NAMESPACE + "logLevel"),
        letters.contains("s"),
        letters.contains("e"));
  }

  /** Returns the message for the server, with the host's ids and without metadata of the host. */
  private static Map<String, Object> forwarded(
      HostedCall call, String method, RpcMessage message, Map<String, Object> meta) {
    Map<String, Object> params = new LinkedHashMap<>(message.params());
    params.remove(META);
    Map<String, Object> own = new LinkedHashMap<>(meta);
    own.keySet().removeIf(name -> name.startsWith(NAMESPACE));
    own.remove("progressToken");
    if (call.progressToken().isPresent()) {
      own.put("progressToken", call.id());
    }
    if (!own.isEmpty()) {
      params.put(META, own);
    }
    Map<String, Object> forwarded =
        Json.object("jsonrpc", "2.0", "id", call.id(), "method", method);
    if (!params.isEmpty()) {
      forwarded.put("params", params);
    }
    return forwarded;
  }

  /** Sends the messages for a request to its client, up to the answer. */
  private void await(Request request, HostedCall call)
      throws RpcError, IOException, InterruptedException {
    Duration timeout = servers.limits().requestTimeout();
    Deadline deadline = Deadline.in(timeout);
    Deadline nextTick = Deadline.in(CallWait.INTERVAL);
    while (!request.exchange().isShuttingDown()) {
      if (deadline.over()) {
        cancel(request.server(), call);
        throw new RpcError(
            RpcError.HOSTED_SERVER,
            "the hosted server did not answer within " + timeout.toSeconds() + " s");
      }
      if (nextTick.over()) {
        nextTick = Deadline.in(CallWait.INTERVAL);
        tick(request);
      }
      ClientQueue.Item item = call.queue().poll(POLL);
      if (item == null) {
        continue;
      }
      if (item.last()) {
        request.response().answer(status(request, item.message()), item.message());
        return;
      } else {
        request.response().send(item.message());
      }
    }
    throw new RpcError(RpcError.HOSTED_SERVER, "Isola is shutting down; repeat the request");
  }

  /** Since 2026-07-28, errors have statuses of their own. */
  private static int status(Request request, byte[] answer) {
    if (!request.modern() || answer.length > HostingLimits.MAX_QUEUED_BYTES) {
      return 200;
    }
    return Json.parseObject(answer).get("error") instanceof Map<?, ?> error
            && error.get("code") instanceof Integer code
        ? RpcError.status(code, true)
        : 200;
  }

  /** Streams messages of the server that belong to no request. */
  void get(Exchange exchange) throws IOException {
    SandboxId sandbox = exchange.sandbox();
    HostedServer server = servers.require(sandbox);
    Session session =
        session(exchange, sandbox)
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.METHOD_NOT_ALLOWED,
                            "a stream needs a session",
                            "use POST, or start a session with initialize")
                        .with("allow", "POST, DELETE")
                        .exception());
    EventResponse response = new EventResponse(exchange);
    try (Exchange.DisconnectWatch _ = exchange.interruptOnDisconnect()) {
      response.keepAlive(); // sends the head of the response
      HostedServer.Connected _ = server.connect(response::keepAlive);
      ClientQueue queue = server.router().openStream(session.word());
      try {
        stream(exchange, response, queue);
      } finally {
        server.router().closeStream(session.word(), queue);
        server.touch();
      }
    } catch (RpcError e) {
      response.end(); // the next request of the client reports it
    } catch (InterruptedException e) {
      throw ToolSandboxes.cancelled(e); // the client has disconnected, or the server ends
    }
  }

  private static void stream(Exchange exchange, EventResponse response, ClientQueue queue)
      throws IOException, InterruptedException {
    Deadline nextTick = Deadline.in(CallWait.INTERVAL);
    while (!exchange.isShuttingDown()) {
      if (nextTick.over()) {
        nextTick = Deadline.in(CallWait.INTERVAL);
        response.keepAlive();
      }
      ClientQueue.Item item = queue.poll(POLL);
      if (item == null) {
        continue;
      }
      if (item.last()) {
        break;
      } else {
        response.send(item.message());
      }
    }
    response.end();
  }

  /** Ends a session. The server continues. */
  void delete(Exchange exchange) throws IOException {
    SandboxId sandbox = exchange.sandbox();
    HostedServer server = servers.require(sandbox);
    session(exchange, sandbox)
        .ifPresent(
            session -> {
              sessions.end(session.word());
              server.router().endSession(session.word());
            });
    exchange.noContent();
  }

  void status(Exchange exchange) throws IOException {
    exchange.json(200, servers.require(exchange.sandbox()).status());
  }
}
