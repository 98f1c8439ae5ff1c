package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.spi.SandboxId;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A1: envd as E2B's clients see it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
class EnvdTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private String sandbox;

  @BeforeAll
  void open() throws IOException {
    testServer = E2bTestServer.open(folder);
    sandbox = createSandbox("{}");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private String createSandbox(String order) throws IOException {
    return testServer.client().post("/api/v1/sandboxes", order).field("id");
  }

  private Map<String, String> headers(String id) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("E2b-Sandbox-Id", id);
    headers.put("E2b-Sandbox-Port", "49983");
    headers.put(
        "X-Access-Token",
        testServer.keys.tokens().stableToken(new SandboxId(id), E2bCredentials.ENVD).reveal());
    return headers;
  }

  private TestClient.Response get(String id, String path) throws IOException {
    return testServer.client("").send("GET", path, headers(id), new byte[0]);
  }

  private TestClient.Response call(String method, String json) throws IOException {
    Map<String, String> headers = headers(sandbox);
    headers.put("Content-Type", "application/json");
    return testServer.client("").send("POST", method, headers, json.getBytes(UTF_8));
  }

  private static byte[] envelope(String json) {
    byte[] bytes = json.getBytes(UTF_8);
    return ByteBuffer.allocate(5 + bytes.length)
        .put((byte) 0)
        .putInt(bytes.length)
        .put(bytes)
        .array();
  }

  private TestClient.OpenResponse stream(String id, String method, byte[] body) throws IOException {
    Map<String, String> headers = headers(id);
    headers.put("Content-Type", "application/connect+json");
    return testServer.client("").open("POST", method, headers, body);
  }

  /** Returns the messages of a stream, each prefixed with its flags. */
  private List<String> frames(String method, String json) throws IOException {
    try (TestClient.OpenResponse open = stream(sandbox, method, envelope(json))) {
      assertThat(open.status()).isEqualTo(200);
      assertThat(open.headers()).containsEntry("content-type", "application/connect+json");
      return frames(new DataInputStream(open.body()));
    }
  }

  private static List<String> frames(DataInputStream in) throws IOException {
    List<String> frames = new ArrayList<>();
    for (int flags = in.read(); flags >= 0; flags = in.read()) {
      frames.add(flags + new String(in.readNBytes(in.readInt()), UTF_8));
    }
    return frames;
  }

  /** Returns the stdout of a process. */
  private static String stdout(List<String> frames) {
    Pattern data = Pattern.compile("\"stdout\":\"([^\"]*)\"");
    StringBuilder text = new StringBuilder();
    for (String frame : frames) {
      data.matcher(frame)
          .results()
          .forEach(one -> text.append(new String(Base64.getDecoder().decode(one.group(1)), UTF_8)));
    }
    return text.toString();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  private static String start(String command) {
    return "{\"process\":{\"cmd\":\"/bin/sh\",\"args\":[\"-c\",\""
        + command
        + "\"]},\"stdin\":false}";
  }

  @Test
  void firstPythonClientsReceiveOnlyTheFieldsTheyKnow() throws IOException {
    String path = "{\"path\":\"/workspace/known\"}";
    assertThat(call("/filesystem.Filesystem/MakeDir", path).text())
        .contains("\"path\":\"/workspace/known\"", "\"size\"", "\"owner\"");
    Map<String, String> headers = headers(sandbox);
    headers.put("Content-Type", "application/json");
    headers.put("User-Agent", "connect-python");
    for (String method : List.of("Stat", "ListDir")) {
      String asked = method.equals("Stat") ? path : "{\"path\":\"/workspace\"}";
      String text =
          testServer
              .client("")
              .send("POST", "/filesystem.Filesystem/" + method, headers, asked.getBytes(UTF_8))
              .text();
      assertThat(text)
          .contains(
              "{\"name\":\"known\",\"type\":\"FILE_TYPE_DIRECTORY\",\"path\":\"/workspace/known\"}")
          .doesNotContain("size", "mode");
    }
  }

  @Test
  void processStreamsStartOutputAndEnd() throws IOException {
    List<String> frames = frames("/process.Process/Start", start("echo out; exit 3"));
    assertThat(frames.getFirst()).matches("0\\{\"event\":\\{\"start\":\\{\"pid\":[0-9]+}}}");
    assertThat(frames.get(1))
        .isEqualTo("0{\"event\":{\"data\":{\"stdout\":\"" + base64("out\n") + "\"}}}");
    assertThat(frames.get(2))
        .contains("\"exitCode\":3", "\"exited\":true", "\"status\":\"exit status 3\"");
    assertThat(frames).hasSize(4).last().isEqualTo("2{}");
  }

  @Test
  void errorIsSentAsEndOfStream() throws IOException {
    String anonymous = "{\"process\":{\"pid\":4711}}";
    assertThat(frames("/process.Process/Connect", anonymous))
        .singleElement()
        .asString()
        .startsWith("2{\"error\":{")
        .contains("\"code\":\"not_found\"");
    assertThat(frames("/process.Process/Start", "{\"process\":{\"cmd\":\"\"}}"))
        .singleElement()
        .asString()
        .contains("invalid_argument");
    assertThat(frames("/filesystem.Filesystem/WatchDir", "{\"path\":\"/workspace/none\"}"))
        .singleElement()
        .asString()
        .contains("not_found");
  }

  @Test
  void failedCallHasConnectCodeAndStatus() throws IOException {
    TestClient.Response missing =
        call("/filesystem.Filesystem/Stat", "{\"path\":\"/workspace/none\"}");
    assertThat(missing.status()).isEqualTo(404);
    assertThat(missing.field("code")).isEqualTo("not_found");
    TestClient.Response twice = call("/filesystem.Filesystem/MakeDir", "{\"path\":\"/workspace\"}");
    assertThat(twice.status()).isEqualTo(409);
    assertThat(twice.field("code")).isEqualTo("already_exists");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "null",
        "7",
        "{\"path\":7}",
        "{\"path\":{}}",
        "{\"path\":\"\\u0000\"}",
        "{\"process\":[]}",
        "{\"process\":{\"pid\":\"x\"}}",
        "{\"process\":{\"pid\":1e99}}",
        "{\"input\":{\"stdin\":\"***\"},\"process\":{\"pid\":1}}",
        "{\"signal\":{}}",
        "{\"process\":{\"cmd\":\"x\",\"args\":[1]}}",
        "{\"process\":{\"envs\":\"x\",\"cmd\":\"y\"}}",
        "{\"pty\":{\"size\":{\"cols\":-1}},\"process\":{\"cmd\":\"sh\"}}"
      })
  void malformedMessagesCauseNoInternalError(String json) throws IOException {
    for (String method :
        List.of(
            "filesystem.Filesystem/Stat", "filesystem.Filesystem/MakeDir",
            "filesystem.Filesystem/Move", "filesystem.Filesystem/CreateWatcher",
            "filesystem.Filesystem/GetWatcherEvents", "process.Process/SendInput",
            "process.Process/SendSignal", "process.Process/Update")) {
      assertThat(call("/" + method, json).status()).as(method + " " + json).isLessThan(500);
    }
    for (String method :
        List.of(
            "process.Process/Start",
            "process.Process/StreamInput",
            "filesystem.Filesystem/WatchDir")) {
      try (TestClient.OpenResponse open = stream(sandbox, "/" + method, json.getBytes(UTF_8))) {
        assertThat(open.status()).as(method + " " + json).isLessThan(500);
      }
    }
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void messageSizeIsLimited() throws IOException {
    byte[] head = ByteBuffer.allocate(5).put((byte) 0).putInt(Integer.MAX_VALUE).array();
    try (TestClient.OpenResponse open = stream(sandbox, "/process.Process/Start", head)) {
      assertThat(new String(open.body().readAllBytes(), UTF_8)).contains("larger than");
    }
  }

  @Test
  void missingSandboxIsReportedByTheStatus() throws IOException {
    assertThat(get(sandbox, "/health").status()).isEqualTo(204);
    TestClient.Response never = get("neverwas", "/health");
    assertThat(never.status()).isEqualTo(502);
    assertThat(never.json()).containsEntry("code", 502).containsEntry("sandboxId", "neverwas");
    String ended = createSandbox("{}");
    testServer.client().delete("/api/v1/sandboxes/" + ended);
    assertThat(get(ended, "/health").status()).isEqualTo(502);
    try (TestClient.OpenResponse open =
        stream(ended, "/process.Process/Start", envelope(start("true")))) {
      assertThat(open.status()).isEqualTo(502);
    }
  }

  @Test
  void pausedSandboxIsResumedOnlyWithAutoResume() throws IOException {
    String manual = createSandbox("{}");
    String automatic = createSandbox("{\"autoResume\":true}");
    for (String id : List.of(manual, automatic)) {
      assertThat(testServer.client().post("/api/v1/sandboxes/" + id + "/pause", "{}").status())
          .isLessThan(300);
    }
    assertThat(get(manual, "/health").status()).isEqualTo(502);
    assertThat(get(automatic, "/health").status()).isEqualTo(204);
    assertThat(testServer.client().get("/api/v1/sandboxes/" + automatic).field("state"))
        .isEqualTo("running");
  }

  @Test
  void healthCheckWithoutTokenNeitherResumesNorKeepsAlive() throws IOException {
    String id = createSandbox("{\"autoResume\":true,\"idleTimeoutSeconds\":600}");
    String path = "/api/v1/sandboxes/" + id;
    String before = testServer.client().get(path).field("lastActivity");
    TestClient anonymous = testServer.client("");
    Map<String, String> header = Map.of("E2b-Sandbox-Id", id);
    Map<String, String> wrong = Map.of("E2b-Sandbox-Id", id, "X-Access-Token", "wrong");
    assertThat(anonymous.send("GET", "/health", header, new byte[0]).status()).isEqualTo(204);
    assertThat(anonymous.send("GET", "/health", wrong, new byte[0]).status()).isEqualTo(204);
    assertThat(testServer.engine.sandboxes().view(new SandboxId(id)).lastActivity())
        .hasToString(before);

    assertThat(testServer.client().post(path + "/pause", "{}").status()).isLessThan(300);
    assertThat(anonymous.send("GET", "/health", header, new byte[0]).status()).isEqualTo(502);
    assertThat(anonymous.send("GET", "/health", wrong, new byte[0]).status()).isEqualTo(502);
    assertThat(testServer.client().get(path).field("state")).isEqualTo("paused");
  }

  @Test
  void destroyedSandboxResetsItsStreams() throws IOException {
    String id = createSandbox("{}");
    Map<String, String> headers = headers(id);
    headers.put("Content-Type", "application/connect+json");
    headers.put(
        "Connection", "keep-alive"); // so that a regular end can be distinguished from a cut
    try (TestClient.OpenResponse open =
        testServer
            .client("")
            .open("POST", "/process.Process/Start", headers, envelope(start("sleep 100")))) {
      testServer.client().delete("/api/v1/sandboxes/" + id);
      ByteArrayOutputStream rest = new ByteArrayOutputStream();
      // Some clients recognize the loss of a sandbox only by a reset.
      assertThatThrownBy(() -> open.body().transferTo(rest))
          .isInstanceOf(SocketException.class)
          .hasMessageContaining("reset");
      assertThat(rest.toString(UTF_8)).contains("start").doesNotContain("exitCode");
    }
  }

  @Test
  void watcherCollectsChangesUntilPolled() throws IOException {
    call("/filesystem.Filesystem/MakeDir", "{\"path\":\"/workspace/watched\"}");
    String id =
        call("/filesystem.Filesystem/CreateWatcher", "{\"path\":\"/workspace/watched\"}")
            .field("watcherId");
    call("/filesystem.Filesystem/MakeDir", "{\"path\":\"/workspace/watched/new\"}");
    String ask = "{\"watcherId\":\"" + id + "\"}";
    for (int i = 0; i < 20; i++) {
      // The first poll after a change returns it.
      assertThat(call("/filesystem.Filesystem/GetWatcherEvents", ask).list("events"))
          .first()
          .isEqualTo(Map.of("name", "new" + (i == 0 ? "" : i), "type", "EVENT_TYPE_CREATE"));
      call(
          "/filesystem.Filesystem/MakeDir", "{\"path\":\"/workspace/watched/new" + (i + 1) + "\"}");
    }
    call("/filesystem.Filesystem/GetWatcherEvents", ask);
    assertThat(call("/filesystem.Filesystem/GetWatcherEvents", ask).list("events")).isEmpty();
    assertThat(call("/filesystem.Filesystem/RemoveWatcher", ask).status()).isEqualTo(200);
    assertThat(call("/filesystem.Filesystem/GetWatcherEvents", ask).status()).isEqualTo(404);
  }

  @Test
  void inputIsStreamed() throws IOException {
    try (TestClient.OpenResponse cat =
        stream(
            sandbox,
            "/process.Process/Start",
            envelope("{\"process\":{\"cmd\":\"/bin/cat\"},\"tag\":\"streamed\",\"stdin\":true}"))) {
      DataInputStream in = new DataInputStream(cat.body());
      in.read();
      in.readNBytes(in.readInt());
      ByteArrayOutputStream inputs = new ByteArrayOutputStream();
      inputs.writeBytes(envelope("{\"start\":{\"process\":{\"tag\":\"streamed\"}}}"));
      inputs.writeBytes(envelope("{\"keepalive\":{}}"));
      for (String part : List.of("one ", "two\n".repeat(50_000))) {
        inputs.writeBytes(envelope("{\"data\":{\"input\":{\"stdin\":\"" + base64(part) + "\"}}}"));
      }
      try (TestClient.OpenResponse open =
          stream(sandbox, "/process.Process/StreamInput", inputs.toByteArray())) {
        assertThat(new String(open.body().readAllBytes(), UTF_8)).endsWith("{}");
      }
      call("/process.Process/CloseStdin", "{\"process\":{\"tag\":\"streamed\"}}");
      List<String> frames = frames(in);
      assertThat(stdout(frames)).isEqualTo("one " + "two\n".repeat(50_000));
      assertThat(frames.toString()).contains("\"exitCode\":0");
    }
  }

  @Test
  void streamedInputArrivesImmediately() throws IOException {
    try (TestClient.OpenResponse cat =
            stream(
                sandbox,
                "/process.Process/Start",
                envelope("{\"process\":{\"cmd\":\"/bin/cat\"},\"tag\":\"live\",\"stdin\":true}"));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), testServer.server.port())) {
      DataInputStream in = new DataInputStream(cat.body());
      in.read();
      in.readNBytes(in.readInt());
      StringBuilder head = new StringBuilder("POST /process.Process/StreamInput HTTP/1.1\r\n");
      head.append("Host: localhost\r\nContent-Type: application/connect+json\r\n");
      head.append("Transfer-Encoding: chunked\r\n");
      headers(sandbox).forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
      OutputStream out = socket.getOutputStream();
      out.write((head + "\r\n").getBytes(UTF_8));
      chunk(out, "{\"start\":{\"process\":{\"tag\":\"live\"}}}");
      for (String part : List.of("one\n", "two\n")) {
        chunk(out, "{\"data\":{\"input\":{\"stdin\":\"" + base64(part) + "\"}}}");
        assertThat(in.read()).isZero();
        assertThat(new String(in.readNBytes(in.readInt()), UTF_8)).contains(base64(part));
      }
    }
  }

  private static void chunk(OutputStream out, String json) throws IOException {
    byte[] bytes = envelope(json);
    out.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(UTF_8));
    out.write(bytes);
    out.write("\r\n".getBytes(UTF_8));
  }

  @Test
  void processWithoutStdinRejectsInput() throws IOException {
    for (boolean stdin : List.of(true, false)) {
      String tag = "takes-" + stdin;
      String sleep =
          "{\"process\":{\"cmd\":\"/bin/sleep\",\"args\":[\"60\"]},\"stdin\":"
              + (stdin + ",\"tag\":\"" + tag + "\"}");
      String process = "\"process\":{\"tag\":\"" + tag + "\"}";
      try (TestClient.OpenResponse open =
          stream(sandbox, "/process.Process/Start", envelope(sleep))) {
        open.body().read();
        String text = "{" + process + ",\"input\":{\"stdin\":\"" + base64("x\n") + "\"}}";
        TestClient.Response sent = call("/process.Process/SendInput", text);
        assertThat(sent.status()).as(sent.text()).isEqualTo(stdin ? 200 : 400);
        call("/process.Process/CloseStdin", "{" + process + "}");
        TestClient.Response closed = call("/process.Process/SendInput", text);
        assertThat(closed.status()).isEqualTo(400);
        assertThat(closed.json()).containsEntry("code", "failed_precondition");
        String typed = text.replace("stdin", "pty");
        assertThat(call("/process.Process/SendInput", typed).json())
            .containsEntry("code", "failed_precondition");
        call("/process.Process/SendSignal", "{" + process + ",\"signal\":\"SIGNAL_SIGKILL\"}");
      }
    }
  }

  @Test
  void recentlyEndedProcessesCanBeConnectedTo() throws IOException {
    List<String> first = frames("/process.Process/Start", start("exit 9"));
    String pid = first.getFirst().replaceAll(".*\"pid\":([0-9]+).*", "$1");
    for (int i = 0; i < 80; i++) {
      frames("/process.Process/Start", start("true"));
    }
    assertThat(frames("/process.Process/Connect", "{\"process\":{\"pid\":" + pid + "}}"))
        .hasSize(3)
        .anySatisfy(frame -> assertThat(frame).contains("\"exitCode\":9"));
  }

  @Test
  void environmentAndMetricsAreReported() throws IOException {
    String id = createSandbox("{\"env\":{\"COLOUR\":\"blue\"}}");
    assertThat(get(id, "/envs").json())
        .containsEntry("COLOUR", "blue")
        .containsEntry("E2B_SANDBOX", "true");
    assertThat(get(id, "/metrics").json())
        .containsKeys("ts", "cpu_count", "cpu_used_pct", "mem_total", "mem_used", "disk_total");
  }

  @Test
  void duplicatePathInAFormIsRejected() throws IOException {
    String part =
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/workspace/x\""
            + "\r\n\r\n1\r\n";
    Map<String, String> headers = headers(sandbox);
    headers.put("Content-Type", "multipart/form-data; boundary=b");
    TestClient.Response answer =
        testServer
            .client("")
            .send("POST", "/files", headers, (part + part + "--b--\r\n").getBytes(UTF_8));
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.json()).containsEntry("code", 400);
  }

  /** Regression: a byte of the next request was taken for a disconnect. */
  @Test
  void connectionIsReusedForStreams() throws IOException {
    byte[] message = envelope(start("echo out"));
    StringBuilder head = new StringBuilder("POST /process.Process/Start HTTP/1.1\r\n");
    head.append("Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n");
    head.append("Content-Type: application/connect+json\r\n");
    headers(sandbox).forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
    head.append("\r\n").append(Integer.toHexString(message.length)).append("\r\n");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), testServer.server.port())) {
      socket.setSoTimeout(30_000);
      socket.setTcpNoDelay(true);
      for (int i = 0; i < 50; i++) {
        socket.getOutputStream().write(head.toString().getBytes(UTF_8));
        socket.getOutputStream().write(message);
        socket.getOutputStream().write("\r\n".getBytes(UTF_8));
        socket.getOutputStream().write("0\r\n\r\n".getBytes(UTF_8)); // in a separate packet
        TestClient.OpenResponse open = TestClient.read(socket);
        assertThat(open.status()).as("request " + i).isEqualTo(200);
        assertThat(new String(open.body().readAllBytes(), UTF_8)).endsWith("{}");
      }
    }
  }
}
