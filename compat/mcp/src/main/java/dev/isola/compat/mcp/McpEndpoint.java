package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.JsonBody;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Handles the requests to {@code /mcp}. */
final class McpEndpoint {
  private static final String SESSION = "Mcp-Session-Id";
  private static final String SANDBOX = "Isola-Sandbox";

  /** The definitions change with the version of the server only. */
  private static final long CACHE_MS = 3_600_000;

  private static final String INSTRUCTIONS =
      "Runs commands and keeps files in isolated sandboxes. Without 'sandbox', tools use the"
          + " sandbox of this session, which is created when it is needed and destroyed when it was"
          + " not used for an hour. A command that takes long returns a handle; read on with"
          + " 'output'.";

  private final Toolbox tools;
  private final McpSessions sessions;
  private final ToolSandboxes sandboxes;
  private final String version;
  private final RunningCalls calls = new RunningCalls();

  McpEndpoint(Toolbox tools, McpSessions sessions, ToolSandboxes sandboxes, String version) {
    this.tools = tools;
    this.sessions = sessions;
    this.sandboxes = sandboxes;
    this.version = version;
  }

  /**
   * A request that may be answered.
   *
   * @param session the word of the session; empty without one
   */
  private record Request(
      Exchange exchange, RpcMessage message, Object id, boolean modern, String session) {}

  void post(Exchange exchange) throws IOException, InterruptedException {
    Optional<Object> id = Optional.empty();
    boolean modern = false;
    try {
      byte[] body = JsonBody.bytes(exchange.content(), JsonBody.MAX_BYTES);
      RpcMessage message = RpcMessage.parse(body);
      id = message.id();
      modern = ProtocolVersion.isModern(exchange, message);
      if (modern) {
        ProtocolVersion.checkModern(exchange, message);
      }
      String session = modern ? "" : session(exchange);
      if (message.id().isEmpty() || message.method().isEmpty()) {
        accept(exchange, message, session);
        return;
      }
      Request request = new Request(exchange, message, message.id().get(), modern, session);
      try {
        answer(request);
      } catch (OwnedElsewhere e) {
        if (!exchange.passToOwner(e.sandbox(), body)) {
          answer(request); // this server has taken over meanwhile
        }
      }
    } catch (RpcError e) {
      Map<String, Object> response = new LinkedHashMap<>();
      response.put("jsonrpc", "2.0");
      response.put("id", id); // null if the message has none
      response.put("error", e.json());
      try (OutputStream out = exchange.begin(e.status(modern), "application/json", Map.of())) {
        out.write(Json.bytes(response));
      }
    }
  }

  /** Returns the word of the session of a request; empty if it has none. */
  private String session(Exchange exchange) {
    Optional<String> id = exchange.header(SESSION);
    if (id.isEmpty()) {
      return "";
    }
    return sessions
        .find(key(exchange), "", id.get())
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.ROUTE_NOT_FOUND,
                        "the session has ended, or belongs to another key",
                        "start a new session with initialize")
                    .exception());
  }

  private static ApiKey key(Exchange exchange) {
    return exchange.key().orElseThrow(() -> new IllegalStateException("the route needs a key"));
  }

  /** Accepts a notification or a response, neither of which is answered. */
  private void accept(Exchange exchange, RpcMessage message, String session) throws IOException {
    Object cancelled = message.params().get("requestId");
    if (message.method().equals(Optional.of("notifications/cancelled"))
        && cancelled != null
        && !session.isEmpty()) {
      calls.cancel(session, cancelled);
    }
    exchange.begin(202, "application/json", Map.of()).close();
  }

  private void answer(Request request) throws RpcError, IOException, InterruptedException {
    String method = request.message().method().orElseThrow();
    if (method.equals("tools/call")) {
      call(request);
      return;
    }
    Map<String, Object> result =
        switch (method) {
          case "initialize" -> initialize(request);
          case "server/discover" -> discover(request);
          case "ping" -> new LinkedHashMap<>();
          case "tools/list" -> cacheable(request, Json.object("tools", tools.definitions()));
          default -> throw new RpcError(RpcError.METHOD_NOT_FOUND, "unknown method");
        };
    request.exchange().json(200, response(request, result));
  }

  private Map<String, Object> initialize(Request request) throws RpcError {
    if (request.modern()) {
      throw new RpcError(RpcError.METHOD_NOT_FOUND, "this version has no initialize");
    }
    request.exchange().addHeader(SESSION, sessions.open(key(request.exchange()), ""));
    return Json.object(
        "protocolVersion",
        ProtocolVersion.negotiate(request.message().text("protocolVersion")),
        "capabilities",
        capabilities(),
        "serverInfo",
        serverInfo(),
        "instructions",
        INSTRUCTIONS);
  }

  private Map<String, Object> discover(Request request) throws RpcError {
    if (!request.modern()) {
      throw new RpcError(RpcError.METHOD_NOT_FOUND, "unknown method");
    }
    return cacheable(
        request,
        Json.object(
            "supportedVersions",
            List.of(ProtocolVersion.MODERN),
            "capabilities",
            capabilities(),
            "instructions",
            INSTRUCTIONS));
  }

  private static Map<String, Object> capabilities() {
    return Map.of("tools", Map.of());
  }

  private Map<String, Object> serverInfo() {
    return Json.object("name", "isola", "version", version);
  }

  private static Map<String, Object> cacheable(Request request, Map<String, Object> result) {
    if (request.modern()) {
      result.put("ttlMs", CACHE_MS);
      result.put("cacheScope", "public");
    }
    return result;
  }

  private Map<String, Object> response(Request request, Map<String, Object> result) {
    if (request.modern()) {
      result.put("resultType", "complete");
      result.put("_meta", Map.of("io.modelcontextprotocol/serverInfo", serverInfo()));
    }
    return Json.object("jsonrpc", "2.0", "id", request.id(), "result", result);
  }

  private void call(Request request) throws RpcError, IOException, InterruptedException {
    RpcMessage message = request.message();
    Tool tool =
        message
            .text("name")
            .flatMap(tools::find)
            .orElseThrow(() -> new RpcError(RpcError.INVALID_PARAMS, "unknown tool"));
    try (RunningCalls.Call running = calls.begin(request.session(), request.id())) {
      CallWait waiting = new CallWait(request.exchange(), message, running, request.modern());
      ToolCall call =
          new ToolCall(
              request.exchange(),
              RpcMessage.object(message.params().get("arguments")),
              defaultSandbox(request),
              waiting);
      waiting.answer(response(request, tools.call(tool, call).json()));
    }
  }

  private static Optional<String> defaultSandbox(Request request) {
    return request
        .exchange()
        .header(SANDBOX)
        .or(
            () ->
                Optional.of(request.session())
                    .filter(word -> !word.isEmpty())
                    .map(McpEndpoint::sandboxName));
  }

  private static String sandboxName(String session) {
    return "mcp-" + session;
  }

  /** Ends a session. Its sandbox is destroyed if the key may do that. */
  void delete(Exchange exchange) throws IOException {
    String session = session(exchange);
    if (session.isEmpty()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the request names no session",
              "send the header " + SESSION)
          .exception();
    }
    sessions.end(session);
    if (key(exchange).scope().allows(Scope.USE)) {
      try {
        sandboxes.destroyNamed(exchange, sandboxName(session));
      } catch (OwnedElsewhere e) {
        if (exchange.passToOwner(e.sandbox(), new byte[0])) {
          return;
        }
        sandboxes.destroyNamed(exchange, sandboxName(session));
      }
    }
    exchange.noContent();
  }
}
