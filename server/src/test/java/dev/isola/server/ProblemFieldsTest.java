package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** E1: time, command, exit code, stderr and spec in errors, bounded and without secrets. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ProblemFieldsTest {
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

  @Test
  void everyErrorHasItsTime() throws IOException {
    Instant before = Instant.now();
    for (TestClient.Response error :
        List.of(
            client.get(SANDBOXES + "/absent"),
            client.get("/nowhere"),
            testServer.client("").get(SANDBOXES),
            client.post(SANDBOXES, "{\"nonsense\":1}"))) {
      assertThat(Instant.parse(error.field("timestamp")))
          .isBetween(before, Instant.now().plusSeconds(1));
      assertThat(error.json()).doesNotContainKeys("command", "exitCode", "stderr", "spec");
    }
  }

  @Test
  void failedInitIsDescribedWithoutSecrets() throws IOException {
    TestClient.Response failed =
        client.post(
            SANDBOXES,
            """
            {"init":"echo boom >&2; exit 3", "env":{"A":"s3cr3t-1"}, "secretEnv":{"B":"s3cr3t-2"},
             "seedFiles":{"f":"s3cr3t-3"}, "tags":{"team":"red"}}""");
    assertThat(failed.status()).as(failed.text()).isEqualTo(422);
    assertThat(failed.json())
        .containsEntry("code", "INIT_FAILED")
        .containsEntry("command", "echo boom >&2; exit 3")
        .containsEntry("exitCode", 3)
        .containsEntry("stderr", "boom\n")
        .containsKey("sandbox");
    assertThat((Map<?, ?>) failed.json().get("spec"))
        .satisfies(spec -> assertThat(spec.get("env")).isEqualTo(Map.of("A", "***")))
        .satisfies(spec -> assertThat(spec.get("seedFiles")).isEqualTo(Map.of("f", "***")))
        .satisfies(spec -> assertThat(spec.get("init")).isEqualTo("***"))
        .satisfies(spec -> assertThat(spec.get("secretEnv")).isEqualTo(List.of("B")))
        .satisfies(spec -> assertThat(spec.get("tags")).isEqualTo(Map.of("team", "red")));
    assertThat(failed.text()).doesNotContain("s3cr3t");
  }

  /** What a sandbox prints and what a client sends must not grow an error without bound. */
  @Test
  void hostileOutputAndSpecsAreBounded() throws IOException {
    TestClient.Response noisy =
        client.post(
            SANDBOXES,
            "{\"init\":\"head -c 1000000 /dev/zero | tr '\\\\0' '\\\\033' >&2; exit 9\"}");
    assertThat(noisy.json()).containsEntry("exitCode", 9);
    assertThat(noisy.field("stderr").length()).isBetween(1000, 4200);

    StringBuilder env = new StringBuilder("{\"V\":\"x\"");
    for (int i = 0; i < 3000; i++) {
      env.append(",\"VARIABLE_").append(i).append("\":\"x\"");
    }
    TestClient.Response large =
        client.post(SANDBOXES, "{\"init\":\"exit 4\",\"env\":" + env + "}}");
    assertThat(large.status()).as(large.text()).isEqualTo(422);
    assertThat(large.json()).doesNotContainKey("spec").containsEntry("exitCode", 4);
  }

  @Test
  void commandThatCannotRunIsNamed() throws IOException {
    String sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
    for (String route : List.of("/exec", "/executions")) {
      TestClient.Response missing =
          client.post(sandbox + route, "{\"argv\":[\"no-such-program\",\"a b\"]}");
      assertThat(missing.json())
          .containsEntry("code", "COMMAND_NOT_FOUND")
          .containsEntry("command", "no-such-program 'a b'")
          .doesNotContainKey("spec");
    }
    TestClient.Response longCommand =
        client.post(
            sandbox + "/exec", "{\"argv\":[\"no-such-program\",\"" + "x".repeat(100_000) + "\"]}");
    assertThat(longCommand.field("command").length()).isLessThan(600);
    client.delete(sandbox + "?force=true");
  }
}
