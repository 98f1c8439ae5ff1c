package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A1, E2: terminals over WebSockets, with real terminals. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TerminalTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final String SIZE = "\"terminal\":{\"rows\":24,\"cols\":80}";

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private String sandbox;

  @BeforeAll
  void open() throws IOException {
    testServer = startServer();
    client = testServer.client();
    sandbox = client.post("/api/v1/sandboxes", "{}").field("id");
  }

  private static TestServer startServer() {
    return new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
  }

  @AfterAll
  void close() throws IOException {
    client.delete("/api/v1/sandboxes/" + sandbox + "?force=true");
    testServer.close();
  }

  private String start(String command) throws IOException {
    TestClient.Response started =
        client.post(
            "/api/v1/sandboxes/" + sandbox + "/executions",
            "{\"argv\":[\"/bin/sh\",\"-c\",\"" + command + "\"]," + SIZE + "}");
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    return "/api/v1/sandboxes/" + sandbox + "/executions/" + started.field("id");
  }

  @Test
  void terminalAcceptsInputAndResizeAndReportsExit() throws Exception {
    String execution =
        start("stty -echo; stty size; echo ready; read a; echo got $a; stty size; exit 7");
    assertThat(client.get(execution).json())
        .containsEntry("terminal", Map.of("rows", 24, "cols", 80));
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      assertThat(terminal.protocol()).isEqualTo("isola.terminal.v1");
      assertThat(terminal.text()).containsEntry("type", "attached").containsEntry("offset", 0);
      terminal.until("ready");
      assertThat(terminal.output()).contains("24 80");
      terminal.sendText("{\"type\":\"resize\",\"rows\":50,\"cols\":132}");
      await().atMost(SOON).until(() -> client.get(execution).text().contains("\"rows\":50"));
      assertThat(client.post(execution + "/resize", "{\"rows\":40,\"cols\":100}").status())
          .isEqualTo(204);
      terminal.type("hello\n");
      terminal.until("40 100");
      assertThat(terminal.output()).contains("got hello");
      assertThat(terminal.text())
          .containsEntry("type", "exit")
          .containsEntry("kind", "exited")
          .containsEntry("exitCode", 7);
      assertThat(terminal.closed()).isEqualTo(1000);
    }
    // A later client receives the same output.
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      terminal.until("got hello");
      assertThat(terminal.closed()).isEqualTo(1000);
    }
  }

  @Test
  void clientResumesFromItsOffsetAfterDetaching() throws Exception {
    String execution = start("stty -echo; echo one; read a; echo two; read a; echo three; read a");
    StringBuilder all = new StringBuilder();
    long offset;
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      terminal.until("one\r\n");
      all.append(terminal.output());
      offset = terminal.offset();
    }
    assertThat(client.get(execution).json()).containsEntry("running", true);
    client.send("POST", execution + "/stdin", Map.of(), "\n".getBytes(UTF_8));
    try (TerminalClient terminal =
        TerminalClient.open(client, execution + "/terminal?offset=" + offset)) {
      assertThat(terminal.text()).containsEntry("offset", (int) offset);
      terminal.until("two\r\n");
      terminal.type("\n");
      terminal.until("three\r\n");
      all.append(terminal.output());
      terminal.sendText("{\"type\":\"signal\",\"signal\":\"KILL\"}");
      assertThat(terminal.text()).containsEntry("signal", "SIGKILL").containsEntry("exitCode", 137);
    }
    assertThat(all.toString()).isEqualTo("one\r\ntwo\r\nthree\r\n");
    assertThat(client.get(execution + "/terminal?offset=999999").status()).isEqualTo(400);
  }

  @Test
  void gapReportsDiscardedOutput() throws Exception {
    String execution =
        start("stty -echo raw; head -c 3000000 /dev/zero | tr '\\\\\\\\0' x; read a");
    await()
        .atMost(SOON)
        .until(() -> Long.parseLong(client.get(execution).field("endOffset")) >= 3_000_000);
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal?offset=10")) {
      assertThat(terminal.text()).containsEntry("type", "attached").containsEntry("offset", 10);
      Map<String, Object> gap = terminal.text();
      assertThat(gap).containsEntry("type", "gap");
      long lost = Long.parseLong(String.valueOf(gap.get("lost")));
      assertThat(gap.get("offset")).isEqualTo((int) (10 + lost));
      terminal.sendText("{\"type\":\"signal\",\"signal\":\"KILL\"}");
      assertThat(terminal.text()).containsEntry("type", "exit");
      assertThat(10 + lost + terminal.bytes().length)
          .isEqualTo(terminal.offset())
          .isEqualTo(3_000_000);
    }
  }

  @Test
  void keyAmongSubprotocolsIsAcceptedAndNeverSelected() throws Exception {
    String execution = start("echo hi; read a");
    String token =
        client
            .post(
                "/api/v1/sandboxes/" + sandbox + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}")
            .field("token");
    for (String secret : List.of(testServer.use, token)) {
      try (TerminalClient terminal =
          TerminalClient.open(
              client.port(),
              execution + "/terminal",
              Map.of(),
              List.of("isola.terminal.v1", "isola.bearer." + secret))) {
        assertThat(terminal.protocol()).isEqualTo("isola.terminal.v1");
        terminal.until("hi");
      }
    }
    for (String secret : List.of(testServer.read, "isk_wrong", token + "x")) {
      assertThatThrownBy(
              () ->
                  TerminalClient.open(
                      client.port(),
                      execution + "/terminal",
                      Map.of(),
                      List.of("isola.terminal.v1", "isola.bearer." + secret)))
          .hasCauseInstanceOf(WebSocketHandshakeException.class);
    }
    assertThat(testServer.requests.toString()).doesNotContain(testServer.use).doesNotContain(token);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void requestWithoutWebSocketHandshakeIsRejected() throws Exception {
    String execution = start("read a");
    assertThat(client.get(execution + "/terminal").status()).isEqualTo(400);
    assertThat(client.get(execution + "/terminal").field("remedy")).contains("isola.terminal.v1");
    Map<String, String> upgrade =
        Map.of(
            "Connection", "Upgrade",
            "Upgrade", "websocket",
            "Sec-WebSocket-Version", "8",
            "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Protocol", "isola.terminal.v1");
    assertThat(client.send("GET", execution + "/terminal", upgrade, new byte[0]).status())
        .isEqualTo(400);
    assertThatThrownBy(
            () ->
                TerminalClient.open(
                    client.port(),
                    execution + "/terminal",
                    Map.of(
                        "Authorization", "Bearer " + client.key(), "Origin", "http://evil.example"),
                    List.of("isola.terminal.v1")))
        .hasCauseInstanceOf(WebSocketHandshakeException.class);
    TestClient.Response plain =
        client.post("/api/v1/sandboxes/" + sandbox + "/executions", "{\"command\":\"sleep 9\"}");
    assertThatThrownBy(
            () ->
                TerminalClient.open(
                    client,
                    "/api/v1/sandboxes/"
                        + sandbox
                        + "/executions/"
                        + plain.field("id")
                        + "/terminal"))
        .hasCauseInstanceOf(WebSocketHandshakeException.class);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void invalidControlMessageClosesOnlyTheSocket() throws Exception {
    String execution = start("read a");
    for (String words :
        List.of(
            "{",
            "7",
            "{}",
            "{\"type\":\"resize\",\"rows\":0,\"cols\":1}",
            "{\"type\":\"resize\",\"rows\":1.5,\"cols\":1}",
            "{\"type\":\"resize\",\"rows\":1,\"cols\":1,\"more\":1}",
            "{\"type\":\"signal\",\"signal\":\"NOSUCH\"}",
            "{\"type\":\"exit\"}",
            "[".repeat(4000))) {
      try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
        assertThat(terminal.text()).containsEntry("type", "attached");
        terminal.sendText(words);
        assertThat(terminal.text())
            .as(words)
            .containsEntry("type", "error")
            .containsEntry("code", "INVALID_REQUEST")
            .containsKeys("detail", "remedy");
        assertThat(terminal.closed()).isEqualTo(4400);
      }
    }
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      terminal.text();
      var _ = terminal.socket().sendBinary(ByteBuffer.allocate(70_000), true);
      // The rest of an oversized frame is not read, so the close frame may not arrive.
      assertThat(terminal.closed()).isIn(1009, TerminalClient.CUT_OFF);
    }
    try (TerminalClient terminal = TerminalClient.open(client, execution + "/terminal")) {
      terminal.text();
      var _ = terminal.socket().sendText("x".repeat(5000), true);
      assertThat(terminal.closed()).isEqualTo(1009);
    }
    assertThat(client.get(execution).json()).containsEntry("running", true);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void terminalAndStreamLoseNoOutputAcrossAServerRestart() throws Exception {
    // One third of the output is written before, during and after the restart.
    String command =
        "stty -echo raw; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i of many;"
            + " [ $((i%1000)) -gt 0 ] || read a; done";
    String execution = start(command);
    TerminalClient first = TerminalClient.open(client, execution + "/terminal");
    first.until("line 100 of many");
    StringBuilder events = new StringBuilder();
    long at = followed(events, execution, 0, 1);

    client.send("POST", execution + "/stdin", Map.of(), "\n".getBytes(UTF_8));
    testServer.server.close(Duration.ofSeconds(10));
    assertThat(first.closed()).isEqualTo(1001);
    first.close();
    testServer.stop();
    testServer = startServer();
    client = testServer.client();

    StringBuilder whole = new StringBuilder(first.output());
    try (TerminalClient again =
        TerminalClient.open(client, execution + "/terminal?offset=" + first.offset())) {
      again.type("\n");
      again.until("line 3000 of many\n");
      whole.append(again.output());
    }
    followed(events, execution, at, Integer.MAX_VALUE);
    List<String> lines = new ArrayList<>();
    for (int i = 1; i <= 3000; i++) {
      lines.add("line " + i + " of many\n");
    }
    assertThat(whole.toString()).isEqualTo(String.join("", lines));
    assertThat(events.toString()).isEqualTo(String.join("", lines));
  }

  /**
   * Follows output by SSE for a number of events or until the last line; returns the next offset.
   */
  private long followed(StringBuilder text, String execution, long from, int pieces)
      throws IOException {
    long offset = from;
    try (TestClient.OpenResponse open =
        client.open(
            "GET",
            execution + "/output",
            Map.of("Last-Event-ID", Long.toString(from)),
            new byte[0])) {
      BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8));
      for (int i = 0; i < pieces && text.indexOf("line 3000 of many\n") < 0; ) {
        String line = lines.readLine();
        assertThat(line).isNotNull();
        if (line.startsWith("id: ")) {
          offset = Long.parseLong(line.substring(4));
        } else if (line.startsWith("data: ")) {
          text.append(
              new tools.jackson.databind.json.JsonMapper()
                  .readTree(line.substring(6))
                  .path("data")
                  .asString());
          i++;
        }
      }
    }
    return offset;
  }
}
