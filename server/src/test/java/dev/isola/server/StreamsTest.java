package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** A1, O10, F2: streams resume from an offset and end with their client. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StreamsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;

  @BeforeAll
  void open() {
    // Much shorter than the idle time of the commands below.
    testServer = new TestServer(folder, Duration.ofSeconds(1));
    client = testServer.client();
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  /** One event of a stream. */
  private record Seen(String event, String id, Map<String, Object> data) {}

  private static Seen next(BufferedReader lines) throws IOException {
    Map<String, String> fields = new LinkedHashMap<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isEmpty() && fields.containsKey("data")) {
        return new Seen(
            fields.getOrDefault("event", ""),
            fields.getOrDefault("id", ""),
            JSON.readValue(fields.get("data"), new TypeReference<Map<String, Object>>() {}));
      }
      int colon = line.indexOf(": ");
      if (colon > 0) {
        fields.put(line.substring(0, colon), line.substring(colon + 2));
      }
    }
    throw new IOException("the stream has ended");
  }

  private static BufferedReader lines(TestClient.OpenResponse open) {
    assertThat(open.status()).isEqualTo(200);
    assertThat(open.headers()).containsEntry("content-type", "text/event-stream");
    return new BufferedReader(new InputStreamReader(open.body(), UTF_8));
  }

  private TestClient.OpenResponse follow(String path, Map<String, String> headers)
      throws IOException {
    return client.open("GET", path, headers, new byte[0]);
  }

  private String sandbox() throws IOException {
    return client.post("/api/v1/sandboxes", "{}").field("id");
  }

  private String start(String sandbox, String body) throws IOException {
    TestClient.Response started = client.post("/api/v1/sandboxes/" + sandbox + "/executions", body);
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    return "/api/v1/sandboxes/" + sandbox + "/executions/" + started.json().get("id");
  }

  private static String text(Seen seen) {
    String data = String.valueOf(seen.data().get("data"));
    return "base64".equals(seen.data().get("encoding"))
        ? new String(Base64.getDecoder().decode(data), UTF_8)
        : data;
  }

  @Test
  void outputStreamResumesFromAnOffset() throws IOException {
    String execution =
        start(
            sandbox(), "{\"command\":\"echo one; read x; echo $x\",\"stdin\":true,\"tag\":\"t\"}");
    String id;
    try (TestClient.OpenResponse open = follow(execution + "/output", Map.of())) {
      Seen first = next(lines(open));
      assertThat(first.event()).isEqualTo("output");
      assertThat(text(first)).isEqualTo("one\n");
      assertThat(first.data()).containsEntry("channel", "stdout").containsEntry("offset", 0);
      id = first.id();
      assertThat(id).isEqualTo("4");
    }
    TestClient.Response fed =
        client.send("POST", execution + "/stdin?close=true", Map.of(), "two\n".getBytes(UTF_8));
    assertThat(fed.status()).as(fed.text()).isEqualTo(204);
    try (TestClient.OpenResponse open =
        follow(execution + "/output", Map.of("Last-Event-ID", id))) {
      BufferedReader lines = lines(open);
      Seen second = next(lines);
      assertThat(text(second)).isEqualTo("two\n");
      assertThat(second.id()).isEqualTo("8");
      Seen end = next(lines);
      assertThat(end.event()).isEqualTo("exit");
      assertThat(end.data()).containsEntry("kind", "exited").containsEntry("exitCode", 0);
      assertThat(lines.readLine()).isNull();
    }
    try (TestClient.OpenResponse open = follow(execution + "/output?offset=4", Map.of())) {
      assertThat(text(next(lines(open)))).isEqualTo("two\n");
    }
    assertThat(client.get(execution + "/output?offset=9").status()).isEqualTo(400);
    Map<String, Object> info = client.get(execution).json();
    assertThat(info)
        .containsEntry("running", false)
        .containsEntry("tag", "t")
        .containsEntry("endOffset", 8);
  }

  /** More than the buffers of an execution hold. */
  private static final long FLOOD = 8_000_000;

  /** Starts a command that fills the buffers before any client reads its output. */
  private String flood() throws IOException {
    String execution = start(sandbox(), "{\"command\":\"head -c " + FLOOD + " /dev/zero\"}");
    await()
        .until(
            () ->
                client.get(execution).json().get("endOffset") instanceof Number end
                    && end.longValue() >= 3 << 19);
    return execution;
  }

  @Test
  void outputFromBeforeTheFirstReadIsNotLost() throws IOException {
    long read = 0;
    try (TestClient.OpenResponse open = follow(flood() + "/output", Map.of())) {
      BufferedReader lines = lines(open);
      Seen seen = next(lines);
      while (seen.event().equals("output")) {
        read += text(seen).length();
        seen = next(lines);
      }
      assertThat(seen.event()).isEqualTo("exit");
    }
    assertThat(read).isEqualTo(FLOOD);
  }

  @Test
  void commandContinuesIfNoClientReadsItsOutput() throws IOException {
    String execution = flood();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> Boolean.FALSE.equals(client.get(execution).json().get("running")));
    assertThat(client.get(execution).json()).containsEntry("endOffset", (int) FLOOD);
  }

  @Test
  void executionsAreListedAndSignalled() throws IOException {
    String sandbox = sandbox();
    String execution = start(sandbox, "{\"argv\":[\"sleep\",\"60\"]}");
    Map<String, Object> list = client.get("/api/v1/sandboxes/" + sandbox + "/executions").json();
    assertThat((List<?>) list.get("executions")).hasSize(1);
    assertThat(client.post(execution + "/signal", "{\"signal\":\"TERM\"}").status()).isEqualTo(204);
    try (TestClient.OpenResponse open = follow(execution + "/output", Map.of())) {
      Seen end = next(lines(open));
      assertThat(end.event()).isEqualTo("exit");
      assertThat(end.data()).containsEntry("signal", "SIGTERM").containsEntry("exitCode", 143);
    }
    assertThat(client.post(execution + "/signal", "{\"signal\":\"NOSUCH\"}").status())
        .isEqualTo(400);
    assertThat(client.get(execution.replaceAll("[^/]*$", "nosuch")).status()).isEqualTo(404);
  }

  @Test
  void eventStreamResumesWithoutLoss() throws IOException {
    long before = testServer.engine.events().lastNumber();
    String sandbox = sandbox();
    List<String> types = new ArrayList<>();
    String id;
    try (TestClient.OpenResponse open =
        follow("/api/v1/events?sandbox=" + sandbox + "&after=" + before, Map.of())) {
      BufferedReader lines = lines(open);
      types.add(next(lines).event());
      Seen ready = next(lines);
      types.add(ready.event());
      id = ready.id();
      assertThat(ready.data()).containsEntry("sandbox", sandbox);
    }
    assertThat(types).containsExactly("spawn", "ready");
    client.delete("/api/v1/sandboxes/" + sandbox);
    try (TestClient.OpenResponse open =
        follow("/api/v1/events?sandbox=" + sandbox, Map.of("Last-Event-ID", id))) {
      BufferedReader lines = lines(open);
      assertThat(next(lines).event()).isEqualTo("stateChange");
      assertThat(next(lines).event()).isEqualTo("terminate");
    }
  }

  @Test
  void eventsAreFilteredByTypeAndSandbox() throws IOException {
    long before = testServer.engine.events().lastNumber();
    String first = sandbox();
    String second = sandbox();
    client.delete("/api/v1/sandboxes/" + first);
    client.delete("/api/v1/sandboxes/" + second);
    try (TestClient.OpenResponse open =
        follow("/api/v1/events?type=ready&type=terminate&after=" + before, Map.of())) {
      BufferedReader lines = lines(open);
      List<String> seen = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Seen event = next(lines);
        seen.add(event.event() + " " + event.data().get("sandbox"));
      }
      assertThat(seen)
          .containsExactly(
              "ready " + first, "ready " + second, "terminate " + first, "terminate " + second);
    }
    try (TestClient.OpenResponse open =
        follow("/api/v1/events?type=terminate&sandbox=" + second + "&after=" + before, Map.of())) {
      assertThat(next(lines(open)).data()).containsEntry("sandbox", second);
    }
    for (String query :
        List.of("type=nap", "type=", "type=ready%0aid:1", "sandbox=A_b", "kind=x")) {
      assertThat(client.get("/api/v1/events?" + query).status()).as(query).isEqualTo(400);
    }
  }

  @Test
  void pastEventsEnd() throws IOException {
    String sandbox = sandbox();
    long last = testServer.engine.events().lastNumber();
    try (TestClient.OpenResponse open = follow("/api/v1/events?last=2&follow=false", Map.of())) {
      assertThat(lines(open).lines().filter(line -> line.startsWith("id: ")))
          .containsExactly("id: " + (last - 2), "id: " + (last - 1), "id: " + last);
    }
    try (TestClient.OpenResponse open =
        follow("/api/v1/events?last=10000&follow=false&sandbox=" + sandbox, Map.of())) {
      assertThat(lines(open).lines().filter(line -> line.startsWith("event: ")))
          .containsExactly("event: spawn", "event: ready");
    }
    try (TestClient.OpenResponse open = follow("/api/v1/events?follow=false", Map.of())) {
      assertThat(lines(open).lines().filter(line -> line.startsWith("event: "))).isEmpty();
    }
    for (String query : List.of("last=0", "last=10001", "last=many", "follow=1")) {
      assertThat(client.get("/api/v1/events?" + query).status()).as(query).isEqualTo(400);
    }
  }

  /** A client that got no event yet must miss none when it reconnects. */
  @Test
  void eventStreamBeginsWithItsPosition() throws IOException {
    try (TestClient.OpenResponse open = follow("/api/v1/events?type=quarantine", Map.of())) {
      BufferedReader lines = lines(open);
      assertThat(List.of(lines.readLine(), lines.readLine(), lines.readLine()))
          .containsExactly(": ", "", "id: " + testServer.engine.events().lastNumber());
    }
  }

  @Test
  void streamMayBeIdleLongerThanTheConnectionTimeout() throws IOException {
    String execution = start(sandbox(), "{\"command\":\"sleep 3; echo up\"}");
    try (TestClient.OpenResponse open = follow(execution + "/output", Map.of())) {
      BufferedReader lines = lines(open);
      assertThat(text(next(lines))).isEqualTo("up\n");
      assertThat(next(lines).event()).isEqualTo("exit");
    }
  }

  @Test
  void commandMayBeIdleLongerThanTheConnectionTimeout() throws IOException {
    String sandbox = sandbox();
    TestClient.Response slept =
        client.post("/api/v1/sandboxes/" + sandbox + "/exec", "{\"command\":\"sleep 3; echo up\"}");
    assertThat(slept.status()).as(slept.text()).isEqualTo(200);
    assertThat(slept.json()).containsEntry("stdout", "up\n");
  }

  @Test
  void commandIsKilledWhenItsClientDisconnects() throws IOException {
    String sandbox = sandbox();
    byte[] body = "{\"command\":\"sleep 300\"}".getBytes(UTF_8);
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), client.port());
    socket
        .getOutputStream()
        .write(
            ("POST /api/v1/sandboxes/"
                    + sandbox
                    + "/exec HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + client.key()
                    + "\r\nContent-Length: "
                    + body.length
                    + "\r\n\r\n")
                .getBytes(UTF_8));
    socket.getOutputStream().write(body);
    String list = "/api/v1/sandboxes/" + sandbox + "/executions";
    await().atMost(SOON).until(() -> client.get(list).text().contains("\"running\":true"));
    socket.close();
    await().atMost(SOON).until(() -> client.get(list).text().contains("\"running\":false"));
    assertThat(client.get(list).text()).contains("SIGKILL");
  }

  @Test
  void connectionIsReusedForCommands() throws IOException {
    String path = "/api/v1/sandboxes/" + sandbox() + "/exec";
    byte[] body = "{\"command\":\"echo hi\"}".getBytes(UTF_8);
    byte[] request =
        ("POST "
                + path
                + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                + client.key()
                + "\r\nContent-Length: "
                + body.length
                + "\r\n\r\n"
                + new String(body, UTF_8))
            .getBytes(UTF_8);
    try (TestClient.OpenResponse first = client.raw(request)) {
      assertThat(new String(first.body().readAllBytes(), UTF_8)).contains("hi\\n");
      for (int i = 0; i < 20; i++) {
        first.socket().getOutputStream().write(request);
        TestClient.OpenResponse again = TestClient.read(first.socket());
        assertThat(new String(again.body().readAllBytes(), UTF_8)).contains("hi\\n");
      }
    }
  }

  @Test
  void interruptedUploadLeavesNoFile() throws IOException {
    String files = "/api/v1/sandboxes/" + sandbox() + "/files";
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), client.port())) {
      socket
          .getOutputStream()
          .write(
              ("PUT "
                      + files
                      + "/content?path=half HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                      + client.key()
                      + "\r\nContent-Length: 1000000\r\n\r\nhalf")
                  .getBytes(UTF_8));
    }
    await()
        .atMost(SOON)
        .until(
            () ->
                testServer.requests.stream()
                    .anyMatch(
                        line ->
                            line.method().equals("PUT")
                                && line.route().endsWith("/files/content")));
    assertThat(client.get(files + "/stat?path=half").status()).isEqualTo(404);
  }

  @Test
  void incompleteBodyTimesOut() throws IOException {
    byte[] request =
        ("POST /api/v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                + client.key()
                + "\r\nContent-Length: 100\r\n\r\n{")
            .getBytes(UTF_8);
    try (TestClient.OpenResponse open = client.raw(request)) {
      assertThat(open.status()).isBetween(400, 499);
    }
  }

  @Test
  void streamEndsWhenTheServerShutsDown() throws IOException {
    TestServer other = new TestServer(folder.resolve("other"));
    try (TestClient.OpenResponse open =
        other.client().open("GET", "/api/v1/events", Map.of(), new byte[0])) {
      BufferedReader lines = lines(open);
      assertThat(lines.readLine()).startsWith(":");
      other.server.close(Duration.ofSeconds(10));
      assertThat(lines.lines().toList())
          .allMatch(line -> line.isBlank() || line.startsWith("id: "));
    } finally {
      other.close();
    }
  }
}
