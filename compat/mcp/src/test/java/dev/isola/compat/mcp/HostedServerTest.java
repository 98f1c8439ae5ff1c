package dev.isola.compat.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.Json;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** M6: a server in a sandbox that misbehaves in every way harms neither Isola nor its clients. */
@Timeout(60)
class HostedServerTest {
  private static final HostingLimits LIMITS =
      new HostingLimits(Duration.ofSeconds(60), Duration.ofSeconds(8));

  @TempDir Path folder;
  private TestServer server;
  private final AtomicReference<McpApi> api = new AtomicReference<>();

  @BeforeEach
  void start() {
    server = open();
  }

  private TestServer open() {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        new SubprocessProviderFactory(),
        context -> HttpServerOptions.NONE,
        Map.of(),
        (context, keys, stored) -> {
          McpApi made = new McpApi(context, keys, "subprocess", "test", LIMITS);
          api.set(made);
          return List.of(made);
        });
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String host() throws IOException {
    return host(Map.of());
  }

  private String host(Map<String, ?> more) throws IOException {
    String script;
    try (InputStream in = HostedServerTest.class.getResourceAsStream("/hosted-server.sh")) {
      script = new String(in.readAllBytes(), UTF_8);
    }
    Map<String, Object> mcp = Json.object("command", "sh", "args", List.of("server.sh"));
    mcp.putAll(more);
    TestClient.Response created =
        server
            .client(server.use)
            .post(
                "/api/v1/sandboxes",
                Json.text(
                    Map.of(
                        "containerType",
                        "mcp_server",
                        "mcp",
                        mcp,
                        "seedFiles",
                        Map.of("server.sh", script))));
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    return created.field("id");
  }

  private McpClient client(String id) {
    return McpClient.hosted(server.client(server.use), id);
  }

  private McpClient session(String id) throws IOException {
    return client(id).withSession(Map.of());
  }

  private String input(String id) throws IOException {
    return server
        .client(server.use)
        .get("/api/v1/sandboxes/" + id + "/files/content?path=input")
        .text();
  }

  private Map<String, Object> status(String id) throws IOException {
    TestClient.Response response =
        server.client(server.read).get("/api/v1/sandboxes/" + id + "/mcp/status");
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    return response.json();
  }

  private static String error(TestClient.Response response) {
    Map<?, ?> error = McpClient.object(McpClient.answer(response), "error");
    return error.get("code") + " " + error.get("message");
  }

  private static TestClient.Response call(McpClient client, String tool) throws IOException {
    return client.send("tools/call", Map.of("name", tool, "arguments", Map.of()));
  }

  private static <T> FutureTask<T> async(java.util.concurrent.Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread.ofVirtual().start(task);
    return task;
  }

  @Test
  void clientsOfBothErasUseTheSameServer() throws IOException {
    String id = host();
    assertThat(status(id)).containsEntry("state", "stopped").containsEntry("starts", 0);
    TestClient.Response opened =
        client(id).send("initialize", Map.of("protocolVersion", "2025-06-18"));
    Map<?, ?> found = McpClient.object(opened.json(), "result");
    assertThat(found.get("protocolVersion")).isEqualTo("2025-06-18");
    assertThat(found.get("serverInfo")).isEqualTo(Map.of("name", "hostile", "version", "1"));
    assertThat(found.get("capabilities")).as("without tasks").isEqualTo(Map.of("tools", Map.of()));
    assertThat(found.get("instructions")).isEqualTo("Be careful.");

    McpClient old = session(id);
    assertThat(old.send("tools/list", Map.of()).text()).contains("echo");
    assertThat(old.call("echo", Map.of("text", "hi")).text()).isEqualTo("hi");
    String pid = old.call("pid", Map.of()).text();

    Map<?, ?> discovered =
        McpClient.object(client(id).modern("server/discover", Map.of()).json(), "result");
    assertThat(discovered.get("supportedVersions")).isEqualTo(List.of("2026-07-28"));
    assertThat(client(id).modernCall("pid", Map.of()).text()).isEqualTo(pid);
    TestClient.Response listed = client(id).modern("tools/list", Map.of());
    assertThat(listed.text()).contains("\"resultType\":\"complete\"", "\"ttlMs\":0", "hostile");
    assertThat(client(id).modern("resources/subscribe", Map.of("uri", "a")).status())
        .isEqualTo(404);
    assertThat(client(id).modern("ping", Map.of()).status()).isEqualTo(404);
    assertThat(input(id)).doesNotContain("io.modelcontextprotocol", "server/discover");

    assertThat(status(id))
        .containsEntry("state", "running")
        .containsEntry("starts", 1)
        .containsEntry("restart", "always");
    String execution = String.valueOf(status(id).get("execution"));
    assertThat(
            server
                .client(server.read)
                .get("/api/v1/sandboxes/" + id + "/executions/" + execution)
                .text())
        .contains("isola-mcp");
  }

  @Test
  void clientsWithTheSameIdsGetTheirOwnAnswers() throws Exception {
    String id = host();
    List<FutureTask<String>> answers = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      McpClient client = i % 3 == 0 ? client(id) : session(id);
      String text = "text" + i;
      boolean modern = i % 3 == 0;
      answers.add(
          async(
              () ->
                  modern
                      ? client.modernCall("slow", Map.of("text", text)).text()
                      : client.call(7, "slow", Map.of("text", text)).text()));
    }
    for (int i = 0; i < answers.size(); i++) {
      assertThat(answers.get(i).get()).isEqualTo("text" + i);
    }
  }

  @Test
  void junkIsIgnored() throws IOException {
    String id = host();
    McpClient client = session(id);
    assertThat(client.call("junk", Map.of()).text()).isEqualTo("done");
    assertThat(client.call("echo", Map.of("text", "hi")).text()).isEqualTo("hi");
    assertThat(status(id)).containsEntry("droppedMessages", 10);
  }

  @Test
  void answerThatIsTooLongFailsItsRequestAtOnce() throws IOException {
    McpClient client = session(host());
    assertThat(error(call(client, "huge"))).contains("-32000", "longer than 4194304 bytes");
    assertThat(client.call("large", Map.of()).text()).hasSize(2_000_000);
    assertThat(client.call("endless", Map.of()).text()).isEqualTo("done");
    assertThat(client.call("echo", Map.of("text", "hi")).text()).isEqualTo("hi");
  }

  @Test
  void floodIsDroppedAndReadSlowly() throws IOException {
    String id = host();
    McpClient client = session(id);
    long start = System.nanoTime();
    TestClient.Response response = call(client, "flood");
    assertThat(McpClient.answer(response)).containsKey("result");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(1));
    assertThat(client.call("echo", Map.of("text", "hi")).text()).isEqualTo("hi");
  }

  @Test
  void requestThatIsNeverAnsweredTimesOut() throws IOException {
    String id = host();
    assertThat(error(call(session(id), "never")))
        .isEqualTo("-32000 the hosted server did not answer within 8 s");
    await().until(() -> input(id).contains("notifications/cancelled"));
    assertThat(status(id)).containsEntry("requests", 0);
  }

  @Test
  void requestsInProgressAreLimited() throws Exception {
    McpClient client = session(host());
    List<FutureTask<String>> answers = new ArrayList<>();
    for (int i = 0; i < 70; i++) {
      answers.add(async(() -> error(call(client, "never"))));
    }
    List<String> errors = new ArrayList<>();
    for (FutureTask<String> answer : answers) {
      errors.add(answer.get());
    }
    assertThat(errors).filteredOn(text -> text.contains("64 requests in progress")).hasSize(6);
  }

  @Test
  void serverThatDoesNotReadHoldsALimitedAmount() throws Exception {
    String id = host();
    McpClient client = session(id);
    FutureTask<String> deaf = async(() -> error(call(client, "deaf")));
    await().until(() -> input(id).contains("deaf"));
    List<FutureTask<String>> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      answers.add(
          async(
              () ->
                  error(
                      client.send(
                          "tools/call",
                          Map.of(
                              "name", "echo", "arguments", Map.of("x", "a".repeat(1_000_000)))))));
    }
    List<String> errors = new ArrayList<>();
    for (FutureTask<String> answer : answers) {
      errors.add(answer.get());
    }
    assertThat(errors).anyMatch(text -> text.contains("does not read its input"));
    assertThat(deaf.get()).contains("did not answer");
    assertThat(api.get().hostedServers().sweepOnce(Duration.ZERO)).isTrue();
    await().until(() -> client.call("echo", Map.of("text", "hi")).text().equals("hi"));
    assertThat(status(id)).containsEntry("starts", 2);
  }

  @Test
  void serverThatExitsIsStartedAgainWithABackOff() throws IOException {
    String id = host();
    McpClient client = session(id);
    assertThat(error(call(client, "exit"))).contains("-32000", "exit code 3");
    long start = System.nanoTime();
    assertThat(client.call("echo", Map.of("text", "hi")).text()).isEqualTo("hi");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(800));
    assertThat(status(id)).containsEntry("starts", 2).containsEntry("lastExit", "exit code 3");
    for (int i = 0; i < 2; i++) {
      assertThat(error(call(client, "exit"))).contains("exit code 3");
    }
    assertThat(error(call(client, "echo")))
        .contains("exit code 3", "started again at the first request after 4 s");
    assertThat(status(id)).containsEntry("state", "backoff");
  }

  @Test
  void restartPolicyIsObeyed() throws IOException {
    String never = host(Map.of("restart", "never"));
    McpClient client = session(never);
    assertThat(error(call(client, "exit"))).contains("exit code 3");
    assertThat(error(call(client, "echo"))).contains("restart policy forbids");
    assertThat(status(never)).containsEntry("state", "exited");

    String onFailure = host(Map.of("restart", "on_failure"));
    assertThat(error(call(session(onFailure), "finish"))).contains("exit code 0");
    assertThat(error(call(client(onFailure), "echo"))).contains("restart policy forbids");
  }

  @Test
  void serverThatCannotStartSaysWhy() throws IOException {
    String missing = host(Map.of("command", "no-such-program"));
    assertThat(error(client(missing).send("initialize", Map.of())))
        .contains("could not be started", "no-such-program");
    String silent = host(Map.of("command", "true", "args", List.of()));
    assertThat(error(client(silent).send("tools/list", Map.of()))).contains("ended before");
    String modernOnly =
        host(
            Map.of(
                "args",
                List.of(
                    "-c",
                    "read line; id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/');"
                        + " echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":"
                        + "{\"code\":-32601,\"message\":\"unknown\"}}'; read line")));
    assertThat(error(client(modernOnly).send("tools/list", Map.of())))
        .contains("answered initialize with an error: unknown");
  }

  @Test
  void requestOfTheServerGoesToTheClientThatCausedIt() throws Exception {
    String id = host();
    McpClient asked = client(id).withSession(Map.of("sampling", Map.of()));
    try (TestClient.OpenResponse open = open(asked, "ask")) {
      String event = nextEvent(open.body());
      Map<String, Object> question = Json.parseObject(event);
      assertThat(question).containsEntry("method", "sampling/createMessage");
      Map<String, Object> reply =
          Json.object(
              "jsonrpc",
              "2.0",
              "id",
              String.valueOf(question.get("id")),
              "result",
              Map.of("role", "mine"));
      McpClient other = client(id).withSession(Map.of("sampling", Map.of()));
      assertThat(other.body(Json.text(reply).replace("mine", "forged")).status()).isEqualTo(202);
      assertThat(client(id).body(Json.text(reply).replace("mine", "forged")).status())
          .isEqualTo(202);
      assertThat(asked.body(Json.text(reply)).status()).isEqualTo(202);
      assertThat(nextEvent(open.body())).contains("mine").doesNotContain("forged");
      assertThat(input(id)).doesNotContain("forged");
    }
  }

  private TestClient.OpenResponse open(McpClient client, String tool) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>(client.headers());
    headers.put("Content-Type", "application/json");
    headers.put("Accept", "application/json, text/event-stream");
    return client
        .http()
        .open(
            "POST",
            client.path(),
            headers,
            Json.bytes(
                Json.object(
                    "jsonrpc",
                    "2.0",
                    "id",
                    1,
                    "method",
                    "tools/call",
                    "params",
                    Map.of("name", tool, "arguments", Map.of()))));
  }

  /** Returns the data of the next event of a stream. */
  private static String nextEvent(InputStream body) throws IOException {
    StringBuilder text = new StringBuilder();
    while (true) {
      int next = body.read();
      if (next < 0) {
        return text.toString();
      }
      text.append((char) next);
      int data = text.indexOf("data: ");
      if (data >= 0 && text.indexOf("\n\n", data) > 0) {
        return text.substring(data + "data: ".length()).strip();
      }
    }
  }

  @Test
  void requestOfTheServerIsRefusedIfItCannotBeAssigned() throws Exception {
    String id = host();
    assertThat(client(id).call("ask", Map.of()).text())
        .contains("the client does not support this");
    assertThat(session(id).call("ask", Map.of()).text())
        .contains("the client does not support this");
    assertThat(client(id).modernCall("ask", Map.of()).text())
        .contains("the client does not support this");

    McpClient first = client(id).withSession(Map.of("sampling", Map.of()));
    FutureTask<String> waiting = async(() -> error(call(session(id), "never")));
    await().until(() -> input(id).contains("never"));
    assertThat(first.call("ask", Map.of()).text()).contains("several clients wait");
    assertThat(waiting.get()).contains("did not answer");
  }

  @Test
  void messagesReachNoOtherClient() throws Exception {
    String id = host();
    McpClient one = session(id);
    TestClient.Response alone = call(one, "log");
    assertThat(alone.text()).contains("secret of one client");
    FutureTask<String> waiting = async(() -> call(session(id), "never").text());
    await().until(() -> input(id).contains("never"));
    assertThat(call(one, "log").text()).doesNotContain("secret");
    assertThat(waiting.get()).doesNotContain("secret");

    TestClient.Response progress =
        one.send(
            "tools/call", Map.of("name", "progress", "_meta", Map.of("progressToken", "mine")));
    assertThat(progress.text()).contains("\"progressToken\":\"mine\"");
    assertThat(call(one, "progress").text()).doesNotContain("notifications/progress");
  }

  @Test
  void streamReceivesChanges() throws Exception {
    String id = host();
    McpClient one = session(id);
    McpClient two = session(id);
    assertThat(one.send("resources/subscribe", Map.of("uri", "file:///a")).status()).isEqualTo(200);
    try (TestClient.OpenResponse first = stream(one);
        TestClient.OpenResponse second = stream(two)) {
      await().until(() -> Integer.valueOf(2).equals(status(id).get("streams")));
      one.call("changed", Map.of("text", "file:///a"));
      assertThat(nextEvent(first.body()))
          .isEqualTo("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
      assertThat(nextEvent(first.body())).contains("resources/updated", "file:///a");
      assertThat(nextEvent(second.body())).contains("tools/list_changed");
      assertThat(
              server
                  .client(server.use)
                  .send("DELETE", two.path(), two.headers(), new byte[0])
                  .status())
          .isEqualTo(204);
      assertThat(nextEvent(second.body())).doesNotContain("resources/updated");
    }
    assertThat(two.send("tools/list", Map.of()).status()).isEqualTo(404);
    assertThat(one.send("tools/list", Map.of()).status()).isEqualTo(200);
    assertThat(client(id).http().get(client(id).path()).status()).isEqualTo(405);
  }

  private static TestClient.OpenResponse stream(McpClient client) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>(client.headers());
    headers.put("Accept", "text/event-stream");
    return client.http().open("GET", client.path(), headers, new byte[0]);
  }

  @Test
  void clientCancelsItsOwnRequestsOnly() throws Exception {
    String id = host();
    McpClient one = session(id);
    McpClient two = session(id);
    FutureTask<String> waiting =
        async(() -> error(one.send(5, "tools/call", Map.of("name", "never"))));
    await().until(() -> input(id).contains("never"));
    String cancel =
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\":"
            + " {\"requestId\": 5}}";
    two.body(cancel);
    client(id).body(cancel);
    assertThat(input(id)).doesNotContain("cancelled");
    one.body(cancel);
    assertThat(waiting.get()).contains("-32800");
    await().until(() -> input(id).contains("cancelled"));
  }

  /** Since 2026-07-28, closing the connection cancels the request. */
  @Test
  void disconnectedClientCancelsItsRequest() throws Exception {
    String id = host();
    Map<String, Object> meta =
        Map.of(
            "io.modelcontextprotocol/protocolVersion",
            "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities",
            Map.of());
    byte[] body =
        Json.bytes(
            Json.object(
                "jsonrpc",
                "2.0",
                "id",
                1,
                "method",
                "tools/call",
                "params",
                Map.of("name", "never", "_meta", meta)));
    String path = client(id).path();
    try (java.net.Socket socket =
        new java.net.Socket(java.net.InetAddress.getLoopbackAddress(), server.server.port())) {
      socket
          .getOutputStream()
          .write(
              ("POST "
                      + path
                      + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                      + server.use
                      + "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                      + "Mcp-Name: never\r\nContent-Length: "
                      + body.length
                      + "\r\n\r\n")
                  .getBytes(UTF_8));
      socket.getOutputStream().write(body);
      await().until(() -> input(id).contains("never"));
    }
    await().atMost(Duration.ofSeconds(3)).until(() -> input(id).contains("cancelled"));
  }

  @Test
  void serverContinuesWhenNoClientUsesIt() throws IOException {
    String id = host();
    McpClient client = session(id);
    String pid = client.call("pid", Map.of()).text();
    for (int i = 0; i < 3; i++) {
      assertThat(api.get().hostedServers().sweepOnce(Duration.ZERO)).isTrue();
      assertThat(client.call("pid", Map.of()).text()).isEqualTo(pid);
    }
    assertThat(input(id)).containsOnlyOnce("\"method\":\"initialize\"");
    assertThat(status(id)).containsEntry("starts", 1).containsEntry("state", "running");
  }

  @Test
  void serverOutlivesIsola() throws Exception {
    String id = host();
    McpClient before = session(id);
    String pid = before.call("pid", Map.of()).text();
    FutureTask<String> underWay = async(() -> call(before, "never").text());
    await().until(() -> input(id).contains("never"));
    server.server.close(Duration.ofSeconds(10));
    assertThat(underWay.get()).contains("shutting down");
    server.stop();
    server = open();

    McpClient after = new McpClient(server.client(server.use), before.path(), before.headers());
    assertThat(after.call("pid", Map.of()).text()).as("the session continues").isEqualTo(pid);
    assertThat(client(id).modernCall("pid", Map.of()).text()).isEqualTo(pid);
    assertThat(input(id)).containsOnlyOnce("\"method\":\"initialize\"");

    after.call("noise", Map.of()); // the answer to initialize is no longer stored
    server.stop();
    server = open();
    assertThat(client(id).call("pid", Map.of()).text()).isEqualTo(pid);
    assertThat(input(id).split("\"method\":\"initialize\"", -1)).hasSize(3);
  }

  @Test
  void credentialsGrantWhatTheyGrantInTheApi() throws IOException {
    String id = host();
    McpClient use = session(id);
    McpClient read = McpClient.hosted(server.client(server.read), id);
    assertThat(read.send("tools/list", Map.of()).status()).isEqualTo(403);
    assertThat(read.modern("server/discover", Map.of()).status()).isEqualTo(403);
    assertThat(server.client(server.read).get(use.path()).status()).isEqualTo(403);
    assertThat(McpClient.hosted(server.client("isk_x"), id).send("ping", Map.of()).status())
        .isEqualTo(401);
    McpClient admin = new McpClient(server.client(server.admin), use.path(), use.headers());
    assertThat(admin.send("tools/list", Map.of()).status())
        .as("the session of another key")
        .isEqualTo(404);
    String other = host();
    McpClient elsewhere =
        new McpClient(server.client(server.use), client(other).path(), use.headers());
    assertThat(elsewhere.send("tools/list", Map.of()).status())
        .as("the session of another sandbox")
        .isEqualTo(404);
    McpClient forged = use.with("Mcp-Session-Id", "s" + use.headers().get("Mcp-Session-Id"));
    assertThat(forged.send("tools/list", Map.of()).status()).isEqualTo(404);
    McpClient twoEndpoints = new McpClient(server.client(server.use), "/mcp", use.headers());
    assertThat(twoEndpoints.send("tools/list", Map.of()).status()).isEqualTo(404);

    String token =
        server
            .client(server.use)
            .post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\": \"use\", \"ttlSeconds\": 60}")
            .field("token");
    assertThat(McpClient.hosted(server.client(token), id).call("echo", Map.of("text", "a")).text())
        .isEqualTo("a");
    assertThat(McpClient.hosted(server.client(token), other).send("ping", Map.of()).status())
        .isEqualTo(403);

    String plain = server.client().post("/api/v1/sandboxes", "{}").field("id");
    TestClient.Response none = client(plain).send("ping", Map.of());
    assertThat(none.status()).isEqualTo(409);
    assertThat(none.text()).contains("hosts no MCP server", "containerType mcp_server");
    assertThat(client("nosuch").send("ping", Map.of()).status()).isEqualTo(404);
    assertThat(server.client().delete("/api/v1/sandboxes/" + id).status()).isEqualTo(204);
    assertThat(use.send("tools/list", Map.of()).status()).isEqualTo(410);
  }

  @Test
  void readKeySeesNeitherArgumentsNorVariables() throws IOException {
    String id = host(Map.of("env", Map.of("TOKEN", "secret1"), "args", List.of("secret2")));
    String path = "/api/v1/sandboxes/" + id;
    assertThat(server.client(server.use).get(path).text()).contains("secret1", "secret2");
    assertThat(server.client(server.read).get(path).text())
        .contains("TOKEN")
        .doesNotContain("secret1", "secret2");
  }

  @Test
  void tasksAreNotOffered() throws IOException {
    McpClient client = session(host());
    assertThat(error(client.send("tasks/list", Map.of()))).contains("-32601", "tasks");
    assertThat(error(client.send("tools/call", Map.of("name", "echo", "task", Map.of("ttl", 1)))))
        .contains("-32601", "tasks");
  }
}
