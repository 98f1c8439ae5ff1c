package dev.isola.compat.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import dev.isola.server.TestClient;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sends single messages, valid and invalid ones, to {@code /mcp} or to a hosted server. */
record McpClient(TestClient http, String path, Map<String, String> headers) {
  static final String MODERN = "2026-07-28";

  private static final Map<String, Object> META =
      Map.of(
          "io.modelcontextprotocol/protocolVersion",
          MODERN,
          "io.modelcontextprotocol/clientCapabilities",
          Map.of());

  /** The result of a call. */
  record Result(Map<?, ?> json) {
    boolean isError() {
      return Boolean.TRUE.equals(json.get("isError"));
    }

    Map<?, ?> structured() {
      return object(json, "structuredContent");
    }

    long number(String name) {
      return Long.parseLong(field(name));
    }

    String field(String name) {
      return String.valueOf(structured().get(name));
    }

    String text() {
      return String.valueOf(((Map<?, ?>) list(json, "content").getFirst()).get("text"));
    }
  }

  static Map<?, ?> object(Map<?, ?> json, String name) {
    return (Map<?, ?>) requireNonNull(json.get(name), name);
  }

  static List<?> list(Map<?, ?> json, String name) {
    return (List<?>) requireNonNull(json.get(name), name);
  }

  static McpClient of(TestClient http) {
    return new McpClient(http, "/mcp", Map.of());
  }

  /** Returns a client of the server that a sandbox hosts. */
  static McpClient hosted(TestClient http, String sandbox) {
    return new McpClient(http, "/api/v1/sandboxes/" + sandbox + "/mcp", Map.of());
  }

  /** Opens a session as clients did until 2025-11-25. */
  static McpClient withSession(TestClient http) throws IOException {
    return of(http).withSession(Map.of());
  }

  /** Opens a session of a client with these capabilities. */
  McpClient withSession(Map<String, ?> capabilities) throws IOException {
    TestClient.Response response =
        send("initialize", Map.of("protocolVersion", "2025-11-25", "capabilities", capabilities));
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    return new McpClient(
        http,
        path,
        Map.of(
            "Mcp-Session-Id",
            response.headers().get("mcp-session-id"),
            "MCP-Protocol-Version",
            "2025-11-25"));
  }

  McpClient with(String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return new McpClient(http, path, more);
  }

  TestClient.Response send(String method, Map<String, ?> params) throws IOException {
    return send(1, method, params);
  }

  TestClient.Response send(int id, String method, Map<String, ?> params) throws IOException {
    return body(
        Json.text(Json.object("jsonrpc", "2.0", "id", id, "method", method, "params", params)));
  }

  TestClient.Response body(String json) throws IOException {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.put("Content-Type", "application/json");
    all.put("Accept", "application/json, text/event-stream");
    return http.send("POST", path, all, json.getBytes(UTF_8));
  }

  /** Sends a request with the headers and the metadata of 2026-07-28. */
  TestClient.Response modern(String method, Map<String, ?> params) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>(params);
    all.put("_meta", META);
    McpClient client = with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method);
    return (params.get("name") instanceof String name ? client.with("Mcp-Name", name) : client)
        .send(method, all);
  }

  Result call(String tool, Map<String, ?> arguments) throws IOException {
    return result(send("tools/call", Map.of("name", tool, "arguments", arguments)));
  }

  Result call(int id, String tool, Map<String, ?> arguments) throws IOException {
    return result(send(id, "tools/call", Map.of("name", tool, "arguments", arguments)));
  }

  Result modernCall(String tool, Map<String, ?> arguments) throws IOException {
    return result(modern("tools/call", Map.of("name", tool, "arguments", arguments)));
  }

  /** Returns the result of a response, which is JSON or the last event of a stream. */
  private static Result result(TestClient.Response response) {
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    Map<String, Object> json = answer(response);
    assertThat(json).as(response.text()).containsKey("result");
    return new Result(object(json, "result"));
  }

  /** Returns the answer of a response, which is JSON or the last event of a stream. */
  static Map<String, Object> answer(TestClient.Response response) {
    String text = response.text();
    int event = text.lastIndexOf("data: ");
    return Json.parseObject(event < 0 ? text : text.substring(event + "data: ".length()).strip());
  }
}
