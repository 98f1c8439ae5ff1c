package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** X2: {@code mode} and {@code args} of a command, with real processes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExecModeTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private String sandbox;

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
    client = testServer.client();
    sandbox = "/api/v1/sandboxes/" + client.post("/api/v1/sandboxes", "{}").field("id");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private TestClient.Response exec(String body) throws IOException {
    return client.post(sandbox + "/exec", body);
  }

  /** The arguments are what an attacker sends to reach the shell. */
  @Test
  void shellModeQuotesAndAppendsArguments() throws IOException {
    String hostile =
        """
        ["a b", "$(id)", "`id`", "; echo injected", "'", "'; echo injected; '", "-n", "", "*",
         "\\n", "\\u001b[31m", "ä\\\\"]""";
    for (String mode : new String[] {"", "\"mode\":\"shell\","}) {
      TestClient.Response result =
          exec("{" + mode + "\"command\":\"printf '%s|'\",\"args\":" + hostile + "}");
      assertThat(result.status()).as(result.text()).isEqualTo(200);
      assertThat(result.field("stdout"))
          .isEqualTo(
              "a b|$(id)|`id`|; echo injected|'|'; echo injected; '|-n||*|\n|\u001b[31m|ä\\|");
      assertThat(result.field("command")).startsWith("printf '%s|' 'a b' '$(id)'");
    }
  }

  @Test
  void argvModeRunsTheProgramWithoutAShell() throws IOException {
    TestClient.Response result =
        exec("{\"mode\":\"argv\",\"command\":\"printf\",\"args\":[\"%s|\",\"$HOME\",\"a b\"]}");
    assertThat(result.field("stdout")).isEqualTo("$HOME|a b|");
    assertThat(exec("{\"mode\":\"argv\",\"command\":\"echo hello\"}").field("code"))
        .isEqualTo("COMMAND_NOT_FOUND");
  }

  /** They may have secrets of the client, as its variables do. */
  @Test
  void argumentsAreShownToKeysWithScopeUseOnly() throws IOException {
    TestClient.Response started =
        client.post(sandbox + "/executions", "{\"argv\":[\"echo\",\"of-the-client\"]}");
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    for (String path : new String[] {"/executions", "/executions/" + started.field("id")}) {
      TestClient.Response use = testServer.client(testServer.use).get(sandbox + path);
      assertThat(use.text()).contains("of-the-client");
      TestClient.Response read = testServer.client(testServer.read).get(sandbox + path);
      assertThat(read.status()).as(read.text()).isEqualTo(200);
      assertThat(read.text()).contains("argv").doesNotContain("of-the-client");
    }
  }

  @Test
  void backgroundExecutionsTakeModeAndArgs() throws IOException {
    TestClient.Response started =
        client.post(
            sandbox + "/executions", "{\"command\":\"exit\",\"args\":[\"7\"],\"mode\":\"shell\"}");
    assertThat(started.status()).as(started.text()).isEqualTo(201);
    TestClient.Response waited =
        client.get(sandbox + "/executions/" + started.field("id") + "/output");
    assertThat(waited.text()).contains("\"code\":7");
  }

  @Test
  void contradictionsAreRefusedByName() throws IOException {
    assertInvalid("{\"mode\":\"eval\",\"command\":\"x\"}", "mode must be one of shell, argv");
    assertInvalid("{\"mode\":\"shell\",\"argv\":[\"x\"]}", "mode belongs to command");
    assertInvalid("{\"argv\":[\"x\"],\"args\":[\"y\"]}", "args belongs to command");
    assertInvalid("{\"args\":[\"y\"]}", "command or argv is required");
    assertInvalid("{\"command\":\"x\",\"args\":[\"a\\u0000b\"]}", "contains a NUL");
    assertInvalid("{\"command\":\"x\",\"args\":\"y\"}", "args must be a list");
    String many = "\"y\",".repeat(10_001);
    assertInvalid(
        "{\"command\":\"x\",\"args\":[" + many.substring(0, many.length() - 1) + "]}",
        "args has more than 10000 elements");
  }

  private void assertInvalid(String body, String expected) throws IOException {
    TestClient.Response refused = exec(body);
    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(refused.field("detail")).contains(expected);
  }
}
