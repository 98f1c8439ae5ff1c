package dev.isola.compat.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.Json;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tools and both eras of the protocol, with real sandboxes. */
@Timeout(60)
class McpToolsTest {
  private static final int MAX_TOOLS = 10;
  private static final int MAX_TOKENS = 3000;

  @TempDir Path folder;
  private TestServer server;
  private McpClient session;

  @BeforeEach
  void start() throws IOException {
    server = open();
    session = McpClient.withSession(server.client(server.use));
  }

  private TestServer open() {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        new SubprocessProviderFactory(),
        context -> HttpServerOptions.NONE,
        Map.of(),
        (context, keys, stored) ->
            List.of(new McpApi(context, keys, "subprocess", "test", HostingLimits.DEFAULT)));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static Map<?, ?> error(TestClient.Response response) {
    return McpClient.object(response.json(), "error");
  }

  private static Map<?, ?> result(TestClient.Response response) {
    return McpClient.object(response.json(), "result");
  }

  /** Tokenizers make about one token of 4.5 bytes of such JSON; 3 is an upper bound. */
  @Test
  void definitionsAreSmall() throws IOException {
    Map<?, ?> result = result(session.send("tools/list", Map.of()));
    List<?> tools = McpClient.list(result, "tools");
    int bytes = Json.bytes(tools).length;
    assertThat(tools).hasSizeLessThanOrEqualTo(MAX_TOOLS);
    assertThat(bytes / 3).as("tokens of %s", tools).isLessThan(MAX_TOKENS);
  }

  @Test
  void handshakeAgreesOnAVersion() throws IOException {
    for (String version : List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")) {
      assertThat(negotiated(version)).isEqualTo(version);
    }
    assertThat(negotiated("1999-01-01")).isEqualTo("2025-11-25");
  }

  private String negotiated(String version) throws IOException {
    TestClient.Response response =
        McpClient.of(server.client(server.use))
            .send("initialize", Map.of("protocolVersion", version));
    return String.valueOf(result(response).get("protocolVersion"));
  }

  @Test
  void notificationsAreAccepted() throws IOException {
    TestClient.Response response =
        session.body("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}");
    assertThat(response.status()).isEqualTo(202);
    assertThat(response.text()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ | -32700",
        "[] | -32600",
        "1 | -32600",
        "{\"id\": 1, \"method\": \"ping\"} | -32600",
        "{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"} | -32600",
        "{\"jsonrpc\": \"2.0\", \"id\": 1} | -32600",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"no/such\"} | -32601",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"server/discover\"} | -32601",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\"} | -32602",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"x\"}} | -32602"
      })
  void invalidMessagesHaveTheCodesOfJsonRpc(String body, int code) throws IOException {
    TestClient.Response response = session.body(body);
    assertThat(error(response).get("code")).as(response.text()).isEqualTo(code);
  }

  @Test
  void requestWithoutASessionStatesItsVersion() throws IOException {
    McpClient client = McpClient.of(server.client(server.use));
    Map<?, ?> found = result(client.modern("server/discover", Map.of()));
    assertThat(found.get("supportedVersions")).isEqualTo(List.of("2026-07-28"));
    assertThat(found.get("resultType")).isEqualTo("complete");
    assertThat(found.get("cacheScope")).isEqualTo("public");

    TestClient.Response wrongMethod =
        client.with("Mcp-Method", "ping").send("tools/list", Map.of("_meta", Map.of()));
    assertThat(wrongMethod.status()).isEqualTo(200); // an older client sends no such header
    TestClient.Response unknown =
        client.with("MCP-Protocol-Version", "2099-01-01").send("tools/list", Map.of());
    assertThat(unknown.status()).isEqualTo(400);
    assertThat(error(unknown).get("code")).isEqualTo(-32022);
    assertThat(client.modern("no/such", Map.of()).status()).isEqualTo(404);
    assertThat(client.modern("initialize", Map.of()).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource({
    "MCP-Protocol-Version, 2025-11-25",
    "MCP-Protocol-Version, 2099-01-01",
    "Mcp-Method, tools/list",
    "Mcp-Method, ''",
    "Mcp-Name, exec",
    "Mcp-Name, =?base64?!?="
  })
  void headersMustMatchTheBody(String header, String value) throws IOException {
    Map<String, Object> meta =
        Map.of(
            "io.modelcontextprotocol/protocolVersion",
            "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities",
            Map.of());
    TestClient.Response response =
        McpClient.of(server.client(server.use))
            .with("MCP-Protocol-Version", "2026-07-28")
            .with("Mcp-Method", "tools/call")
            .with("Mcp-Name", "list_sandboxes")
            .with(header, value)
            .send("tools/call", Map.of("name", "list_sandboxes", "_meta", meta));
    assertThat(response.status()).as(response.text()).isEqualTo(400);
    assertThat(error(response).get("code")).isEqualTo(-32020);
  }

  @Test
  void sessionHasASandboxOfItsOwn() throws IOException {
    assertThat(session.call("write_file", Map.of("path", "a.txt", "content", "hä")).isError())
        .isFalse();
    McpClient.Result ran = session.call("exec", Map.of("command", "cat a.txt; exit 3"));
    assertThat(ran.field("output")).isEqualTo("hä");
    assertThat(ran.structured().get("exitCode")).isEqualTo(3);
    assertThat(ran.text()).isEqualTo("hä\n[exit code 3]");

    McpClient other = McpClient.withSession(server.client(server.use));
    assertThat(other.call("exec", Map.of("command", "ls")).field("output")).isEmpty();
    assertThat(other.call("read_file", Map.of("path", "a.txt")).field("code"))
        .isEqualTo("FILE_NOT_FOUND");
  }

  @Test
  void clientWithoutASessionNamesItsSandbox() throws IOException {
    McpClient client = McpClient.of(server.client(server.use));
    McpClient.Result unnamed = client.modernCall("exec", Map.of("command", "true"));
    assertThat(unnamed.isError()).isTrue();
    assertThat(unnamed.field("remedy")).contains("create_sandbox");

    assertThat(client.modernCall("create_sandbox", Map.of("name", "work")).isError()).isFalse();
    assertThat(
            client
                .modernCall("exec", Map.of("sandbox", "work", "command", "echo hi"))
                .field("output"))
        .isEqualTo("hi\n");
    McpClient configured = client.with("Isola-Sandbox", "other");
    assertThat(configured.modernCall("exec", Map.of("command", "echo ho")).field("output"))
        .isEqualTo("ho\n");
    assertThat(client.modernCall("list_sandboxes", Map.of()).text()).contains("work", "other");
    assertThat(
            client.modernCall("exec", Map.of("sandbox", "none", "command", "true")).field("code"))
        .isEqualTo("SANDBOX_NOT_FOUND");
  }

  @Test
  void longCommandReturnsAHandleThatSurvivesARestart() throws IOException {
    McpClient.Result started =
        session.call(
            "exec",
            Map.of(
                "command",
                "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 7",
                "waitSeconds",
                1));
    assertThat(started.structured().get("running")).isEqualTo(true);
    assertThat(started.field("output")).isEqualTo("one\n");
    String handle = started.field("handle");
    Object offset = started.structured().get("nextOffset");
    assertThat(offset).isEqualTo(4);

    server.stop();
    server = open();

    McpClient use = McpClient.of(server.client(server.use));
    String sandbox = handle.substring(0, handle.indexOf('/'));
    McpClient.Result waiting =
        use.call("output", Map.of("handle", handle, "offset", offset, "waitSeconds", 0));
    assertThat(waiting.structured().get("running")).isEqualTo(true);
    assertThat(waiting.field("output")).isEmpty();
    use.call("write_file", Map.of("sandbox", sandbox, "path", "go", "content", ""));
    McpClient.Result ended = use.call("output", Map.of("handle", handle, "offset", offset));
    if (Boolean.TRUE.equals(ended.structured().get("running"))) {
      ended = use.call("output", Map.of("handle", handle, "offset", offset));
    }
    assertThat(ended.field("output")).isEqualTo("two\n");
    assertThat(ended.structured().get("exitCode")).isEqualTo(7);
    assertThat(session.headers()).isNotEmpty();
    McpClient again = new McpClient(server.client(server.use), "/mcp", session.headers());
    assertThat(again.call("exec", Map.of("command", "ls")).field("output"))
        .as("the session continues")
        .isEqualTo("go\n");
  }

  @Test
  void longOutputSaysWhatWasLeftOutAndHowToReadIt() throws IOException {
    McpClient.Result ran =
        session.call("exec", Map.of("command", "seq 1 20000 | sed 's/$/ ü/'; echo end"));
    assertThat(ran.text()).hasSizeLessThan(40_000).contains("bytes left out").endsWith("]");
    assertThat(ran.field("output")).startsWith("1 ü\n2 ü\n").endsWith("20000 ü\nend\n");
    StringBuilder all = new StringBuilder();
    long offset = 0;
    boolean more = true;
    while (more) {
      McpClient.Result part =
          session.call("output", Map.of("handle", ran.field("handle"), "offset", offset));
      all.append(part.field("output"));
      offset = part.number("nextOffset");
      more = Boolean.TRUE.equals(part.structured().get("more"));
      assertThat(part.structured().get("running")).isEqualTo(false);
    }
    StringBuilder expected = new StringBuilder();
    for (int i = 1; i <= 20000; i++) {
      expected.append(i).append(" ü\n");
    }
    assertThat(all.toString()).isEqualTo(expected.append("end\n").toString());
  }

  @Test
  void outputThatIsNoLongerStoredIsCounted() throws IOException {
    McpClient.Result ran = session.call("exec", Map.of("command", "yes abcdefg | head -c 3000000"));
    McpClient.Result part = session.call("output", Map.of("handle", ran.field("handle")));
    assertThat(part.number("lostBytes")).isPositive();
    assertThat(part.text()).contains("bytes are no longer stored");
    assertThat(
            session
                .call("output", Map.of("handle", ran.field("handle"), "offset", 3_000_001))
                .field("code"))
        .isEqualTo("INVALID_REQUEST");
  }

  @Test
  void killedCommandHasEnded() throws IOException {
    McpClient.Result started =
        session.call("exec", Map.of("command", "sleep 300", "waitSeconds", 0));
    String handle = started.field("handle");
    assertThat(session.call("kill", Map.of("handle", handle)).isError()).isFalse();
    McpClient.Result ended = session.call("output", Map.of("handle", handle));
    assertThat(ended.field("exit")).isEqualTo("killed by SIGKILL");
    assertThat(session.call("kill", Map.of("handle", "nonsense")).field("code"))
        .isEqualTo("INVALID_REQUEST");
    assertThat(
            session
                .call("output", Map.of("handle", handle.replaceAll("/.*", "/none")))
                .field("code"))
        .isEqualTo("EXECUTION_NOT_FOUND");
  }

  @Test
  void filesAreReadInParts() throws IOException {
    String text = "ä".repeat(20_000);
    session.call("write_file", Map.of("path", "d/text", "content", text));
    McpClient.Result first = session.call("read_file", Map.of("path", "d/text", "limit", 32_767));
    assertThat(first.field("content")).isEqualTo("ä".repeat(16_383));
    assertThat(first.text()).endsWith("of 40000; read on with offset=32766]");
    McpClient.Result rest =
        session.call("read_file", Map.of("path", "d/text", "offset", 32_766, "limit", 100_000));
    assertThat(rest.field("content")).isEqualTo("ä".repeat(20_000 - 16_383));
    assertThat(rest.structured().containsKey("nextOffset")).isFalse();

    session.call("write_file", Map.of("path", "d/bytes", "content", "AP8B", "encoding", "base64"));
    McpClient.Result bytes = session.call("read_file", Map.of("path", "d/bytes"));
    assertThat(bytes.field("encoding")).isEqualTo("base64");
    assertThat(bytes.field("content")).isEqualTo("AP8B");
    session.call("write_file", Map.of("path", "d/log", "content", "a"));
    session.call("write_file", Map.of("path", "d/log", "content", "b", "append", true));
    assertThat(session.call("read_file", Map.of("path", "d/log")).field("content")).isEqualTo("ab");
    assertThat(session.call("read_file", Map.of("path", "d")).text().lines())
        .containsExactlyInAnyOrder("bytes 3", "log 2", "text 40000");
  }

  @Test
  void snapshotAndForkHaveTheFiles() throws IOException {
    session.call("write_file", Map.of("path", "a", "content", "saved"));
    String snapshot = session.call("snapshot", Map.of()).field("snapshot");
    session.call("write_file", Map.of("path", "a", "content", "changed"));
    String restored = session.call("create_sandbox", Map.of("from", snapshot)).field("sandbox");
    assertThat(session.call("read_file", Map.of("sandbox", restored, "path", "a")).field("content"))
        .isEqualTo("saved");
    String source = session.call("exec", Map.of("command", "true")).field("handle");
    McpClient.Result fork =
        session.call("create_sandbox", Map.of("from", source.substring(0, source.indexOf('/'))));
    assertThat(fork.isError()).as(fork.text()).isFalse();
    assertThat(
            session
                .call("read_file", Map.of("sandbox", fork.field("sandbox"), "path", "a"))
                .field("content"))
        .isEqualTo("changed");
    assertThat(session.call("destroy_sandbox", Map.of("sandbox", restored)).isError()).isFalse();
  }

  @Test
  void previewUrlHasAToken() throws IOException {
    session.call("exec", Map.of("command", "true"));
    McpClient.Result url = session.call("preview_url", Map.of("port", 8000));
    assertThat(url.text()).startsWith("http://8000-").contains("isola_token=ist_");
  }

  @Test
  void invalidArgumentsAreNamedTogether() throws IOException {
    McpClient.Result result =
        session.call("exec", Map.of("cmd", "ls", "waitSeconds", "long", "timeoutSeconds", 0));
    assertThat(result.field("code")).isEqualTo("INVALID_REQUEST");
    assertThat(result.text())
        .contains("command is missing", "waitSeconds", "timeoutSeconds", "cmd");
  }

  /** Since 2026-07-28, closing the connection cancels the call. */
  @Test
  void disconnectedClientCancelsItsCommand() throws Exception {
    String body =
        Json.text(
            Json.object(
                "jsonrpc",
                "2.0",
                "id",
                1,
                "method",
                "tools/call",
                "params",
                Json.object(
                    "name",
                    "exec",
                    "arguments",
                    Map.of("command", "touch started; sleep 300; touch ended"),
                    "_meta",
                    Map.of(
                        "io.modelcontextprotocol/protocolVersion",
                        "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities",
                        Map.of()))));
    McpClient client = McpClient.of(server.client(server.use)).with("Isola-Sandbox", "cancelled");
    client.modernCall("write_file", Map.of("path", "a", "content", ""));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server.port())) {
      socket
          .getOutputStream()
          .write(
              ("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                      + server.use
                      + "\r\nIsola-Sandbox: cancelled\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                      + "Mcp-Method: tools/call\r\nMcp-Name: exec\r\nContent-Length: "
                      + body.getBytes(StandardCharsets.UTF_8).length
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.UTF_8));
      await().until(() -> !client.modernCall("read_file", Map.of("path", "started")).isError());
    }
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                client
                    .modernCall(
                        "exec", Map.of("command", "ps -eo args | grep -c '[s]leep 300' || true"))
                    .field("output")
                    .equals("0\n"));
  }

  /** Until 2025-11-25, a notification does. */
  @Test
  void notificationCancelsACommand() throws Exception {
    session.call("write_file", Map.of("path", "a", "content", ""));
    FutureTask<McpClient.Result> call =
        new FutureTask<>(
            () -> session.call(77, "exec", Map.of("command", "echo $$ > pid; exec sleep 300")));
    Thread.ofVirtual().start(call);
    await().until(() -> session.call("exec", Map.of("command", "cat pid")).number("exitCode") == 0);
    TestClient.Response sent =
        session.body(
            "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\":"
                + " {\"requestId\": 77}}");
    assertThat(sent.status()).isEqualTo(202);
    assertThat(call.get(20, TimeUnit.SECONDS).field("code")).isEqualTo("CANCELLED");
    await()
        .until(
            () ->
                session.call("exec", Map.of("command", "kill -0 $(cat pid)")).number("exitCode")
                    != 0);
  }
}
