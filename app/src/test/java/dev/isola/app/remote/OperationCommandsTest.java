package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands against a real server with the subprocess provider: exec --shell, status, wait, events
 * --type, rm --timeout, batch.
 */
@Timeout(180)
class OperationCommandsTest {
  @TempDir static Path data;
  private static LiveServer server;

  @TempDir Path folder;
  private String id;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @BeforeEach
  void make() {
    CommandResult made = isola("create", "--ttl", "10m");
    assertThat(made.err()).isEmpty();
    id = made.out().strip();
  }

  @AfterEach
  void destroy() {
    assertThat(isola("rm", "--force", id).code()).isZero();
  }

  private CommandLineFixture fixture() {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture;
  }

  private CommandResult isola(String... args) {
    return fixture().call(args);
  }

  @Test
  void execShellQuotesArguments() {
    CommandResult shell =
        isola("exec", "--shell", id, "--", "printf '%s|'", "a b", "$HOME", "'; echo injected; '");
    assertThat(shell.err()).isEmpty();
    assertThat(shell.out()).isEqualTo("a b|$HOME|'; echo injected; '|");
    assertThat(isola("exec", "--shell", id, "--", "exit", "7").code()).isEqualTo(7);
    assertThat(isola("exec", id, "--", "echo", "$HOME").out()).isEqualTo("$HOME\n");
  }

  @Test
  void statusPrintsHealthUsageAndErrors() {
    assertThat(isola("exec", "--timeout", "50ms", id, "--", "sleep", "9").code())
        .isEqualTo(ExitCodes.TIMEOUT);
    CommandResult status = isola("status", id);
    assertThat(status.err()).isEmpty();
    assertThat(status.out())
        .contains("health     healthy", "% over", "memory", "uptime", "EXEC_TIMEOUT execution: ");
    assertThat(isola("status", id, "--json").out())
        .contains("\"health\":\"healthy\"", "\"cpuPercent\":", "\"errors\":[{");
    assertThat(isola("status", "absent").code()).isEqualTo(ExitCodes.NOT_RUN);
  }

  @Test
  void waitEndsWithTheState() {
    assertThat(isola("wait", id).out()).isEqualTo("running\n");
    CommandResult late = isola("wait", "--state", "paused", "--timeout", "100ms", id);
    assertThat(late.code()).isEqualTo(ExitCodes.TIMEOUT);
    assertThat(late.err()).contains("is running and did not become paused").hasLineCount(1);
    CommandResult never = isola("wait", "--state", "creating", id);
    assertThat(never.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(never.err()).contains("can no longer become creating");
    assertThat(isola("wait", "--state", "asleep", id).err()).contains("state must be one of");
    assertThat(isola("wait", "--timeout", "later", id).code()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void eventsAreFilteredByTypeAndSandbox() {
    String other = isola("create", "--ttl", "10m").out().strip();
    assertThat(isola("rm", "--force", other).code()).isZero();
    CommandResult ready =
        isola(
            "events", "--after", "0", "--type", "ready", "--sandbox", id, "--count", "1", "--json");
    assertThat(ready.err()).isEmpty();
    assertThat(ready.out())
        .contains("\"type\":\"ready\"", "\"sandbox\":\"" + id + "\"")
        .doesNotContain(other);
    assertThat(
            isola(
                    "events",
                    "--after",
                    "0",
                    "--type",
                    "terminate",
                    "--type",
                    "spawn",
                    "--count",
                    "2")
                .out())
        .contains("spawn")
        .doesNotContain("ready");
    assertThat(isola("events", "--type", "nap").err()).contains("type must be one of spawn, ready");
  }

  @Test
  void removesWithATimeout() {
    String other = isola("create", "--ttl", "10m").out().strip();
    // A millisecond is too short for the end of a process.
    CommandResult late = isola("rm", "--force", "--timeout", "1ms", other);
    assertThat(late.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(late.err()).contains("still exists after 1 ms; its destruction continues");
    assertThat(isola("wait", "--state", "destroyed", other).out()).isEqualTo("destroyed\n");
    assertThat(isola("rm", "--timeout", "1m", id).code()).isZero();
    assertThat(isola("rm", "--timeout", "2d", id).err()).contains("timeoutMs must be from");
    assertThat(isola("rm", "--timeout", "soon", id).code()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void providersOfAServerAreListed() {
    CommandResult table = isola("providers", "--server", server.url);
    assertThat(table.err()).isEmpty();
    assertThat(table.out()).contains("NAME", "MEMORY", "subprocess", "healthy", "process");
    assertThat(isola("providers", "--server", server.url, "--json").out())
        .startsWith("{\"apiVersions\":[\"v1\",\"v2\"],\"providers\":[{\"name\":\"subprocess\"")
        .contains("\"available\":{\"memoryMb\":");
    CommandResult refused = isola("providers", "--server", "http://127.0.0.1:1");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err()).hasLineCount(1);
  }

  @Test
  void errorsHaveTimeCommandExitCodeStderrAndSpec() throws IOException {
    Path spec =
        Files.writeString(
            folder.resolve("spec.json"),
            """
            {"init": "echo boom >&2; exit 3", "env": {"A": "s3cr3t"}, "secretEnv": {"B": "s3cr3t"}}
            """);
    CommandResult failed = isola("create", "--spec", spec.toString(), "--json");
    assertThat(failed.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(failed.out())
        .contains(
            "\"code\":\"INIT_FAILED\"",
            "\"timestamp\":\"20",
            "\"command\":\"echo boom >&2; exit 3\"",
            "\"exitCode\":3",
            "\"stderr\":\"boom\\n\"",
            "\"spec\":{",
            "\"secretEnv\":[\"B\"]")
        .doesNotContain("s3cr3t");
    assertThat(isola("create", "--spec", spec.toString()).err()).contains("init: boom");
    assertThat(isola("exec", id, "--json", "--", "no-such-program").out())
        .doesNotContain("\"spec\"");
  }

  private CommandResult batch(String operations, String... args) throws IOException {
    Path file = Files.writeString(folder.resolve("operations.json"), operations);
    return isola(
        Stream.concat(Stream.of("batch", id, file.toString()), Stream.of(args))
            .toArray(String[]::new));
  }

  @Test
  void batchExecutesFileOperations() throws IOException {
    CommandResult done =
        batch(
            """
            [{"op": "write", "path": "d/a", "content": "1"}, {"op": "read", "path": "d/a"}]
            """);
    assertThat(done.err()).isEmpty();
    assertThat(done.out()).isEqualTo("write d/a: ok\nread d/a: ok\n");
    assertThat(isola("exec", id, "--", "cat", "d/a").out()).isEqualTo("1");
    assertThat(batch("[{\"op\": \"read\", \"path\": \"d/a\"}]", "--json").out())
        .contains("\"content\":\"1\"", "\"failed\":0");

    String failing =
        """
        [{"op": "read", "path": "absent\\u001b[2J"}, {"op": "mkdir", "path": "later"}]
        """;
    CommandResult stopped = batch(failing);
    assertThat(stopped.code()).isEqualTo(ExitCodes.FAILED);
    assertThat(stopped.out()).startsWith("read absent?[2J: failed: ").doesNotContain("\u001b");
    assertThat(stopped.err()).contains("1 further operations were not attempted");
    assertThat(batch(failing, "--keep-going").out()).contains("mkdir later: ok");
  }

  @Test
  void batchRejectsWhatIsNoListOfOperations() throws IOException {
    for (String wrong : List.of("", "{}", "[1]", "[{\"op\": null}]", "[", " ".repeat(2 << 20))) {
      CommandResult refused = batch(wrong);
      assertThat(refused.code()).as(wrong.strip()).isEqualTo(ExitCodes.USAGE);
      assertThat(refused.err()).hasLineCount(1);
    }
    assertThat(batch("[{\"op\": \"burn\", \"path\": \"x\"}]").err()).contains("op must be one of");
    assertThat(isola("batch", id, folder.resolve("nowhere").toString()).code())
        .isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void namesOfOtherApisAreExplained() throws IOException {
    assertThat(isola("create", "--runtime", "docker").err()).contains("use --provider");
    assertThat(isola("create", "--runtime-id=abc").err()).contains("use --id");
    Path spec = Files.writeString(folder.resolve("spec.json"), "{\"runtime\": \"docker\"}");
    CommandResult refused = isola("create", "--spec", spec.toString());
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err()).contains("runtime is unknown; use provider");
    assertThat(isola("inspect", id, "--json").out()).contains("\"runtimeId\":\"" + id + "\"");
  }
}
