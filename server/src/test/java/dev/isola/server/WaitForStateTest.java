package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** O10: waiting for a state by long poll. */
@Timeout(120)
class WaitForStateTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";
  private static final int STREAMS = 3;

  @TempDir Path folder;
  private TestServer testServer;
  private TestClient client;
  private String sandbox;

  @BeforeEach
  void open() throws IOException {
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            context ->
                new HttpServerOptions(
                    Optional.empty(),
                    new RequestLimits(0, 1, 0, 0, STREAMS),
                    List.of(),
                    Optional::empty),
            Map.of());
    client = testServer.client();
    sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private static CompletableFuture<TestClient.Response> inBackground(
      TestClient client, String path) {
    CompletableFuture<TestClient.Response> response = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                response.complete(client.get(path));
              } catch (IOException | RuntimeException e) {
                response.completeExceptionally(e);
              }
            });
    return response;
  }

  private void expect(String path, int status, String code) throws IOException {
    TestClient.Response response = client.get(path);
    assertThat(response.status()).as(response.text()).isEqualTo(status);
    assertThat(response.json().get(status == 200 ? "state" : "code")).isEqualTo(code);
  }

  @Test
  void stateThatIsReachedIsAnsweredAtOnce() throws IOException {
    expect(sandbox + "/wait?state=paused&state=running", 200, "running");
    expect(sandbox + "/wait?state=paused&state=running&timeoutMs=0", 200, "running");
  }

  @Test
  void waitEndsWhenTheStateIsReached() throws Exception {
    CompletableFuture<TestClient.Response> waiting =
        inBackground(client, sandbox + "/wait?state=destroyed&timeoutMs=60000");
    long start = System.nanoTime();
    expect(sandbox + "/wait?state=destroyed&timeoutMs=300", 504, "DEADLINE_EXCEEDED");
    assertThat(System.nanoTime() - start).isGreaterThan(Duration.ofMillis(300).toNanos());
    assertThat(waiting).isNotDone();
    client.delete(sandbox + "?force=true");
    assertThat(waiting.get(10, TimeUnit.SECONDS).field("state")).isEqualTo("destroyed");
  }

  @Test
  void timeoutNamesTheCurrentState() throws IOException {
    TestClient.Response late = client.get(sandbox + "/wait?state=paused&timeoutMs=0");
    assertThat(late.status()).isEqualTo(504);
    assertThat(late.field("detail")).contains("is running and did not become paused within 0 ms");
    assertThat((Map<?, ?>) late.json().get("context")).isEqualTo(Map.of("state", "running"));
  }

  @Test
  @Timeout(40) // less than the time that the requests allow
  void stateThatCannotBeReachedIsAnErrorAtOnce() throws IOException {
    expect(sandbox + "/wait?state=creating&timeoutMs=60000", 409, "ILLEGAL_STATE");
    client.delete(sandbox + "?force=true");
    expect(sandbox + "/wait?state=running&state=paused&timeoutMs=60000", 409, "ILLEGAL_STATE");
    assertThat(client.get(sandbox + "/wait?state=running").field("detail"))
        .endsWith("is destroyed and can no longer become running");
  }

  /** The sandbox leaves the states from which the requested one can be reached. */
  @Test
  void waitEndsWhenTheStateCanNoLongerBeReached() throws Exception {
    CompletableFuture<TestClient.Response> waiting =
        inBackground(client, sandbox + "/wait?state=paused&timeoutMs=60000");
    client.delete(sandbox + "?force=true");
    assertThat(waiting.get(10, TimeUnit.SECONDS).field("code")).isEqualTo("ILLEGAL_STATE");
  }

  @Test
  void invalidRequestsAreRefused() throws IOException {
    for (String query :
        List.of(
            "",
            "?state=",
            "?state=asleep",
            "?state=running&timeoutMs=60001",
            "?state=running&timeoutMs=-1",
            "?state=running&timeoutMs=99999999999999999999",
            "?state=running%0a",
            "?status=running")) {
      assertThat(client.get(sandbox + "/wait" + query).status()).as(query).isEqualTo(400);
    }
    assertThat(client.get(SANDBOXES + "/absent/wait?state=running").status()).isEqualTo(404);
    assertThat(testServer.client("").get(sandbox + "/wait?state=running").status()).isEqualTo(401);
  }

  @Test
  void longPollsOfOneKeyDoNotStarveOthers() throws Exception {
    String slow = sandbox + "/wait?state=destroyed&timeoutMs=60000";
    List<CompletableFuture<TestClient.Response>> waiting = new ArrayList<>();
    TestClient greedy = testServer.client(testServer.read);
    for (int i = 0; i < STREAMS; i++) {
      waiting.add(inBackground(greedy, slow));
    }
    await().until(() -> greedy.get(sandbox + "/wait?state=running").status() == 429);
    assertThat(client.get(sandbox + "/wait?state=running").status()).as("other key").isEqualTo(200);
    assertThat(greedy.get(sandbox).status()).as("no long poll").isEqualTo(200);
    client.delete(sandbox + "?force=true");
    for (CompletableFuture<TestClient.Response> one : waiting) {
      assertThat(one.get(10, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
    assertThat(greedy.get(sandbox + "/wait?state=destroyed").status()).isEqualTo(200);
  }

  /** All sandbox tokens have one name in the logs, but not one limit. */
  @Test
  void longPollsOfOneTokenDoNotStarveOtherSandboxes() throws Exception {
    String other = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
    TestClient greedy =
        testServer.client(
            client
                .post(sandbox + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":600}")
                .field("token"));
    TestClient neighbour =
        testServer.client(
            client
                .post(other + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":600}")
                .field("token"));
    List<CompletableFuture<TestClient.Response>> waiting = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      waiting.add(inBackground(greedy, sandbox + "/wait?state=destroyed&timeoutMs=60000"));
    }
    await().until(() -> greedy.get(sandbox + "/wait?state=running").status() == 429);
    assertThat(neighbour.get(other + "/wait?state=running").status()).isEqualTo(200);
    client.delete(sandbox + "?force=true");
    CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
  }

  @Test
  void disconnectedClientsReleaseTheirLongPolls() throws Exception {
    List<Socket> abandoned = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), testServer.server.port());
      socket
          .getOutputStream()
          .write(
              ("GET "
                      + sandbox
                      + "/wait?state=destroyed&timeoutMs=60000 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                      + "Authorization: Bearer "
                      + testServer.admin
                      + "\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      abandoned.add(socket);
    }
    await().until(() -> client.get(sandbox + "/wait?state=running").status() == 429);
    for (Socket socket : abandoned) {
      socket.close();
    }
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> client.get(sandbox + "/wait?state=running").status() == 200);
  }

  @Test
  void shutdownEndsLongPolls() throws Exception {
    List<CompletableFuture<TestClient.Response>> waiting = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      waiting.add(inBackground(client, sandbox + "/wait?state=paused&timeoutMs=60000"));
    }
    await().until(() -> client.get(sandbox + "/wait?state=running").status() == 429);
    Thread closing =
        Thread.ofVirtual().start(() -> testServer.server.close(Duration.ofSeconds(30)));
    for (CompletableFuture<TestClient.Response> one : waiting) {
      TestClient.Response ended = one.get(9, TimeUnit.SECONDS);
      assertThat(ended.status()).as(ended.text()).isEqualTo(503);
    }
    closing.join();
  }
}
