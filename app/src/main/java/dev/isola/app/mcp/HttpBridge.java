package dev.isola.app.mcp;

import dev.isola.app.remote.ServerOptions;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Passes messages to {@code /mcp} of a server, and what it answers back. */
final class HttpBridge implements AutoCloseable {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** Longer than any call waits. */
  private static final Duration REQUEST_TIMEOUT = Duration.ofMinutes(15);

  private static final int MAX_RESPONSE = 16 << 20;
  private static final String SESSION = "Mcp-Session-Id";
  private static final String VERSION = "io.modelcontextprotocol/protocolVersion";

  /** Receives the messages of the server. */
  interface Receiver {
    void receive(byte[] message) throws IOException;
  }

  private final ServerOptions.Server server;
  private final String sandbox;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();
  private final Map<Object, Thread> modernCalls = new ConcurrentHashMap<>();
  private volatile @Nullable String session;

  /**
   * @param sandbox the name of the sandbox that tools use by default
   */
  HttpBridge(ServerOptions.Server server, String sandbox) {
    this.server = server;
    this.sandbox = sandbox;
  }

  /** Sends a message and passes on every message of the response. */
  void send(byte[] body, Receiver receiver) throws IOException {
    Map<String, Object> message;
    try {
      message = Json.parseObject(body);
    } catch (MalformedJson e) {
      receiver.receive(error(Optional.empty(), -32700, "the message is not a JSON object"));
      return;
    }
    Optional<Object> id = Optional.ofNullable(message.get("id"));
    Map<?, ?> params = message.get("params") instanceof Map<?, ?> map ? map : Map.of();
    boolean modern =
        params.get("_meta") instanceof Map<?, ?> meta && meta.get(VERSION) instanceof String;
    if ("notifications/cancelled".equals(message.get("method"))
        && params.get("requestId") != null) {
      Optional.ofNullable(modernCalls.get(params.get("requestId"))).ifPresent(Thread::interrupt);
    }
    if (modern && id.isPresent()) {
      modernCalls.put(id.get(), Thread.currentThread());
    }
    try {
      pass(request(body, message, params), id, receiver);
    } catch (InterruptedException e) {
      // The client cancelled the request, which closes the connection and has no answer.
    } finally {
      id.ifPresent(modernCalls::remove);
    }
  }

  private HttpRequest request(byte[] body, Map<String, Object> message, Map<?, ?> params) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url() + "/mcp"))
            .timeout(REQUEST_TIMEOUT)
            .header("Authorization", "Bearer " + server.key())
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("Isola-Sandbox", sandbox)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    String known = session;
    if (params.get("_meta") instanceof Map<?, ?> meta
        && meta.get(VERSION) instanceof String version) {
      request.header("MCP-Protocol-Version", headerValue(version));
      request.header("Mcp-Method", headerValue(String.valueOf(message.get("method"))));
      if (params.get("name") instanceof String name) {
        request.header("Mcp-Name", headerValue(name));
      }
    } else if (known != null) {
      request.header(SESSION, known);
    }
    return request.build();
  }

  /** Encodes what a header cannot contain, as the protocol defines it. */
  private static String headerValue(String text) {
    boolean plain = text.chars().allMatch(c -> c >= ' ' && c <= '~') && text.equals(text.strip());
    return plain
        ? text
        : "=?base64?"
            + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8))
            + "?=";
  }

  private void pass(HttpRequest request, Optional<Object> id, Receiver receiver)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> response;
    try {
      response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    } catch (IOException e) {
      if (id.isPresent()) {
        receiver.receive(error(id, -32603, "the server " + server + " does not answer: " + e));
      }
      return;
    }
    response.headers().firstValue(SESSION).ifPresent(opened -> session = opened);
    String type = response.headers().firstValue("Content-Type").orElse("");
    try (InputStream body = response.body()) {
      if (type.startsWith("text/event-stream")) {
        passEvents(body, receiver);
        return;
      }
      byte[] answer = body.readNBytes(MAX_RESPONSE);
      if (id.isPresent()) {
        receiver.receive(isMessage(answer) ? answer : problem(id, answer, response.statusCode()));
      }
    }
  }

  private static void passEvents(InputStream body, Receiver receiver) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("data: ")) {
        receiver.receive(line.substring("data: ".length()).getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private static boolean isMessage(byte[] answer) {
    try {
      return Json.parseObject(answer).containsKey("jsonrpc");
    } catch (MalformedJson e) {
      return false;
    }
  }

  /** Returns the error for a response that is not of the protocol, such as a wrong key. */
  private static byte[] problem(Optional<Object> id, byte[] answer, int status) {
    try {
      Map<String, Object> problem = Json.parseObject(answer);
      return error(
          id,
          -32603,
          problem.get("code") + ": " + problem.get("detail") + "; " + problem.get("remedy"));
    } catch (MalformedJson e) {
      return error(id, -32603, "the server answered with status " + status);
    }
  }

  private static byte[] error(Optional<Object> id, int code, String text) {
    return Json.bytes(
        Json.object(
            "jsonrpc", "2.0", "id", id, "error", Json.object("code", code, "message", text)));
  }

  /** Destroys the default sandbox; a failure is left to its time to live. */
  void destroySandbox() throws IOException {
    byte[] call =
        Json.bytes(
            Json.object(
                "jsonrpc",
                "2.0",
                "id",
                "end",
                "method",
                "tools/call",
                "params",
                Map.of("name", "destroy_sandbox", "arguments", Map.of("sandbox", sandbox))));
    send(call, _ -> {});
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
