package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.Json;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** S5: the status of a sandbox over HTTP, with the figures of real processes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class SandboxStatusTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;

  @BeforeAll
  void open() {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
    client = testServer.client();
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private String create(String body) throws IOException {
    TestClient.Response made = client.post(SANDBOXES, body);
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return SANDBOXES + "/" + made.field("id");
  }

  private static Map<?, ?> usage(TestClient.Response status) {
    return (Map<?, ?>) status.json().getOrDefault("usage", Map.of());
  }

  private static double number(Map<?, ?> usage, String field) {
    return usage.get(field) instanceof Number number ? number.doubleValue() : Double.NaN;
  }

  @Test
  void streamOfTheStatusEndsWithTheSandbox() throws IOException {
    String path = create("{}");
    try (TestClient.OpenResponse open =
            client.open("GET", path + "/status/stream", Map.of(), new byte[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8))) {
      List<String> states = new ArrayList<>();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("data: ")) {
          Map<String, Object> status = Json.parseObject(line.substring(6));
          states.add(String.valueOf(status.get("state")));
          if (states.size() == 2) {
            assertThat(status).containsKey("usage");
            assertThat(client.delete(path).status()).isEqualTo(204);
          }
        }
      }
      assertThat(states).startsWith("running", "running").endsWith("destroyed");
    }
  }

  @Test
  void statusHasTheFiguresOfARunningSandbox() throws IOException {
    String sandbox = create("{}");
    TestClient.Response idle = client.get(sandbox + "/status");
    assertThat(idle.status()).as(idle.text()).isEqualTo(200);
    assertThat(idle.json())
        .containsEntry("state", "running")
        .containsEntry("health", "healthy")
        .containsEntry("provider", "subprocess")
        .containsEntry("runtime", "subprocess")
        .containsEntry("runtimeId", sandbox.substring(SANDBOXES.length() + 1))
        .containsEntry("errors", List.of())
        .containsKeys("createdAt", "lastActivity")
        .doesNotContainKey("reason");
    assertThat(number(usage(idle), "cpuPercent")).isBetween(0.0, 50.0);
    assertThat(number(usage(idle), "cpuIntervalMs")).isGreaterThanOrEqualTo(200);
    assertThat(number(usage(idle), "uptimeMs")).isPositive();

    client.post(sandbox + "/executions", "{\"command\":\"while :; do :; done\"}");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              Map<?, ?> busy = usage(client.get(sandbox + "/status"));
              return number(busy, "cpuPercent") > 20 && number(busy, "cpuPercent") < 250;
            });
    Map<?, ?> busy = usage(client.get(sandbox + "/status"));
    assertThat(number(busy, "memoryBytes")).isPositive();
    assertThat(number(busy, "memoryPeakBytes")).isGreaterThanOrEqualTo(number(busy, "memoryBytes"));
    assertThat(number(busy, "processes")).isPositive();
    client.delete(sandbox + "?force=true");
  }

  @Test
  void pollingTheStatusIsNoActivity() throws IOException {
    String sandbox = create("{}");
    String before = client.get(sandbox).field("lastActivity");
    await()
        .until( // an activity would have another time
            () ->
                Instant.now().isAfter(Instant.parse(before).plusSeconds(1))
                    && client.get(sandbox + "/status").status() == 200);
    assertThat(client.get(sandbox + "/status").field("lastActivity")).isEqualTo(before);
    client.delete(sandbox + "?force=true");
  }

  @Test
  void statusDoesNotResumeAPausedSandbox(@TempDir Path other) throws IOException {
    try (TestServer pausing = new TestServer(other)) {
      TestClient admin = pausing.client();
      String sandbox = SANDBOXES + "/" + admin.post(SANDBOXES, "{\"autoResume\":true}").field("id");
      TestClient.Response paused = admin.post(sandbox + "/pause", "{}");
      assertThat(paused.status()).as(paused.text()).isEqualTo(200);
      assertThat(admin.get(sandbox + "/status").json())
          .containsEntry("state", "paused")
          .containsEntry("health", "unknown")
          .containsEntry("reason", "the sandbox is paused")
          .doesNotContainKey("usage");
      assertThat(admin.get(sandbox).field("state")).isEqualTo("paused");
      admin.delete(sandbox + "?force=true");
      assertThat(admin.get(sandbox + "/status").json())
          .containsEntry("state", "destroyed")
          .containsEntry("health", "unknown");
      assertThat(admin.get(SANDBOXES + "/absent/status").field("code"))
          .isEqualTo("SANDBOX_NOT_FOUND");
    }
  }

  @Test
  void latestErrorsAreBoundedAndContainNoCommand() throws IOException {
    String sandbox = create("{\"secretEnv\":{\"TOKEN\":\"s3cr3t-of-env\"}}");
    for (int i = 0; i < 25; i++) {
      TestClient.Response run =
          client.post(
              sandbox + "/exec",
              "{\"command\":\"echo $TOKEN s3cr3t-in-command; sleep 9\",\"timeoutMs\":"
                  + (20 + i)
                  + "}");
      assertThat(run.field("timedOut")).as(run.text()).isEqualTo("true");
    }
    client.get(sandbox + "/files/stat?path=absent"); // an error of the client is not recorded
    TestClient.Response status = client.get(sandbox + "/status");
    assertThat(status.text()).doesNotContain("s3cr3t");
    List<Map<?, ?>> errors = status.list("errors");
    assertThat(errors).hasSize(20);
    assertThat(errors).allSatisfy(one -> assertThat(one.get("code")).isEqualTo("EXEC_TIMEOUT"));
    assertThat(String.valueOf(errors.getLast().get("message"))).contains("44 ms");
    assertThat(client.get(sandbox + "/status").field("health")).isEqualTo("healthy");

    assertThat(testServer.client(testServer.read).get(sandbox + "/status").list("errors"))
        .hasSize(20)
        .allSatisfy(one -> assertThat(one.get("message")).isEqualTo("***"))
        .allSatisfy(one -> assertThat(one.get("code")).isEqualTo("EXEC_TIMEOUT"));
    client.delete(sandbox + "?force=true");
  }

  @Test
  void tokenOfAnotherSandboxSeesNothing() throws IOException {
    String sandbox = create("{}");
    String other = create("{}");
    String token =
        client.post(sandbox + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":600}").field("token");
    assertThat(testServer.client(token).get(sandbox + "/status").status()).isEqualTo(200);
    assertThat(testServer.client(token).get(other + "/status").status()).isEqualTo(403);
    assertThat(testServer.client(token).get(other + "/wait?state=running").status()).isEqualTo(403);
    client.delete(sandbox + "?force=true");
    client.delete(other + "?force=true");
  }

  /** A frozen agent stands for any sandbox that does not answer. */
  @Test
  void sandboxThatDoesNotAnswerIsUnhealthy() throws Exception {
    String sandbox = create("{}");
    assertThat(client.get(sandbox + "/status").field("health")).isEqualTo("healthy");
    String agent =
        testServer.registry.get("subprocess").inventory().stream()
            .filter(one -> sandbox.endsWith("/" + one.id()))
            .map(one -> one.details().get("agentPid"))
            .findFirst()
            .orElseThrow();
    signal("-STOP", agent);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<TestClient.Response>> calls = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        calls.add(() -> client.get(sandbox + "/status"));
      }
      for (Future<TestClient.Response> one : clients.invokeAll(calls)) {
        assertThat(one.get().json())
            .containsEntry("health", "unhealthy")
            .doesNotContainKey("usage");
        assertThat(one.get().field("reason")).contains("did not answer");
      }
    } finally { // the agent has been silent for all of them
      signal("-CONT", agent);
    }
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> client.get(sandbox + "/status").field("health").equals("healthy"));
    client.delete(sandbox + "?force=true");
  }

  private static void signal(String signal, String pid) throws Exception {
    assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor()).isZero();
  }
}
