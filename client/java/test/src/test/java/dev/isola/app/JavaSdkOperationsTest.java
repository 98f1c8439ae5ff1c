package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.client.ApiKeys;
import dev.isola.client.Command;
import dev.isola.client.DestroyOptions;
import dev.isola.client.FileBatch;
import dev.isola.client.FileBatchResult;
import dev.isola.client.FileInfo;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.client.SandboxStatus;
import dev.isola.client.error.Conflict;
import dev.isola.client.error.DeadlineExceeded;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.NotFound;
import dev.isola.client.error.Problem;
import dev.isola.testing.server.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java SDK against a real server with the subprocess provider: command modes, status, waiting,
 * subscriptions, destroy options, batches of files, problems.
 */
@Timeout(120)
class JavaSdkOperationsTest {
  @TempDir static Path data;
  private static TestServer server;
  private static Isola isola;
  private Sandbox sandbox;

  @BeforeAll
  static void start() {
    server = TestServer.start(data, "subprocess");
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  @BeforeEach
  void make() {
    sandbox = isola.create();
  }

  @AfterEach
  void destroy() {
    sandbox.destroy(true);
  }

  @Test
  void argumentsOfAShellCommandAreQuoted() {
    Command command = Command.shell("printf '%s|'", "a b", "$HOME", "'; echo injected; '");
    assertThat(sandbox.exec(command).stdout()).isEqualTo("a b|$HOME|'; echo injected; '|");
    assertThat(sandbox.start(command).await().shellCode()).isZero();
    assertThatThrownBy(
            () ->
                new Command(
                    Optional.empty(),
                    List.of("x"),
                    List.of("echo"),
                    Map.of(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void statusHasUsageHealthAndErrors() {
    SandboxStatus idle = sandbox.status();
    assertThat(idle.isHealthy()).isTrue();
    assertThat(idle.state()).isEqualTo("running");
    assertThat(idle.reason()).isEmpty();
    assertThat(idle.errors()).isEmpty();
    assertThat(idle.usage()).isPresent();
    assertThat(idle.cpu()).hasValueSatisfying(load -> assertThat(load.interval()).isPositive());
    assertThat(idle.document()).containsEntry("runtimeId", sandbox.id());

    sandbox.exec(Command.shell("sleep 9").withTimeout(Duration.ofMillis(50)));
    assertThat(sandbox.status().errors())
        .singleElement()
        .satisfies(error -> assertThat(error.code()).isEqualTo("EXEC_TIMEOUT"))
        .satisfies(error -> assertThat(error.message()).contains("50 ms"));
    sandbox.destroy();
    assertThat(sandbox.status().usage()).isEmpty();
    assertThat(sandbox.status().health()).isEqualTo("unknown");
  }

  @Test
  void readKeySeesNoErrorMessages() {
    sandbox.exec(Command.shell("sleep 9").withTimeout(Duration.ofMillis(50)));
    ApiKeys.CreatedKey key = isola.keys().create("reader", "read");
    try (Isola reader = Isola.connect(server.url(), key.key())) {
      assertThat(reader.sandbox(sandbox.id()).status().errors())
          .singleElement()
          .satisfies(error -> assertThat(error.message()).isEqualTo("***"));
    } finally {
      isola.keys().revoke("reader");
    }
  }

  @Test
  void awaitsAState() throws Exception {
    assertThat(sandbox.awaitState("running", Duration.ofSeconds(10)).id()).isEqualTo(sandbox.id());
    CompletableFuture<SandboxInfo> destroyed =
        CompletableFuture.supplyAsync(
            () -> sandbox.awaitState(List.of("destroyed", "error"), Duration.ofMinutes(1)));
    assertThatThrownBy(() -> sandbox.awaitState("destroyed", Duration.ofMillis(50)))
        .isInstanceOf(DeadlineExceeded.class)
        .hasMessageContaining("is running and did not become destroyed");
    sandbox.destroy();
    assertThat(destroyed.get(30, TimeUnit.SECONDS).state()).isEqualTo("destroyed");
    assertThatThrownBy(() -> sandbox.awaitState("running", Duration.ofMinutes(1)))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("can no longer become running");
    assertThatThrownBy(() -> sandbox.awaitState("asleep", Duration.ofMinutes(1)))
        .isInstanceOf(InvalidRequest.class);
  }

  @Test
  void destroysWithTimeoutAndForce() {
    sandbox.destroy(DestroyOptions.DEFAULT.forced().withTimeout(Duration.ofSeconds(30)));
    assertThat(sandbox.info().state()).isEqualTo("destroyed");
    try (Sandbox other = isola.create()) {
      // A millisecond is too short for the end of a process.
      assertThatThrownBy(
              () -> other.destroy(DestroyOptions.DEFAULT.withTimeout(Duration.ofMillis(1))))
          .isInstanceOf(DeadlineExceeded.class)
          .hasMessageContaining("its destruction continues");
      assertThat(other.awaitState("destroyed", Duration.ofSeconds(30)).state())
          .isEqualTo("destroyed");
    }
    assertThatThrownBy(
            () -> sandbox.destroy(DestroyOptions.DEFAULT.withTimeout(Duration.ofDays(1))))
        .isInstanceOf(InvalidRequest.class);
  }

  @Test
  void providersHaveTheirOwnResourcesAndTheApiItsVersions() {
    assertThat(isola.apiVersions()).containsExactly("v1", "v2");
    assertThat(isola.providers())
        .filteredOn(one -> "subprocess".equals(one.get("name")))
        .singleElement()
        .satisfies(one -> assertThat(one).containsEntry("apiVersion", "v2"))
        .satisfies(one -> assertThat(one).containsKeys("available", "resources"));
  }

  @Test
  void problemHasTimeCommandExitCodeStderrAndSpec() {
    Instant before = Instant.now().minusSeconds(5);
    SandboxSpec spec =
        SandboxSpec.builder()
            .set("init", "echo boom >&2; exit 3")
            .set("secretEnv", Map.of("TOKEN", "s3cr3t"))
            .env("A", "s3cr3t")
            .build();
    Problem problem =
        catchThrowableOfType(InvalidRequest.class, () -> isola.create(spec)).problem();
    assertThat(problem.code()).isEqualTo("INIT_FAILED");
    assertThat(problem.timestamp()).hasValueSatisfying(at -> assertThat(at).isAfter(before));
    assertThat(problem.command()).contains("echo boom >&2; exit 3");
    assertThat(problem.exitCode()).hasValue(3);
    assertThat(problem.stderr()).contains("boom\n");
    assertThat(problem.spec())
        .containsEntry("init", "***")
        .containsEntry("env", Map.of("A", "***"))
        .containsEntry("secretEnv", List.of("TOKEN"));
    assertThat(problem.document().toString()).doesNotContain("s3cr3t");

    Problem missing =
        catchThrowableOfType(
                InvalidRequest.class, () -> sandbox.exec(Command.argv("no-such-program", "x")))
            .problem();
    assertThat(missing.command()).contains("no-such-program x");
    assertThat(missing.spec()).isEmpty();
    Problem local = Problem.clientSide("CANCELLED", "it", "");
    assertThat(local.timestamp()).isEmpty();
    assertThat(local.exitCode()).isEmpty();
  }

  @Test
  void executesABatchOfFileOperations() {
    byte[] binary = {0, -1, 7};
    FileBatchResult done =
        sandbox
            .files()
            .batch(
                FileBatch.EMPTY
                    .makeFolder("b")
                    .write("b/text", "häl")
                    .write("b/bytes", binary, 0640)
                    .read("b/text")
                    .read("b/bytes")
                    .stat("b/bytes")
                    .changeMode("b/text", 0600)
                    .move("b/text", "b/moved", false)
                    .remove("b/bytes", false))
            .orThrow();
    assertThat(done.succeeded()).isTrue();
    assertThat(done.results()).hasSize(9);
    assertThat(done.results().get(3).text()).contains("häl");
    assertThat(done.results().get(4).bytes())
        .hasValueSatisfying(b -> assertThat(b).isEqualTo(binary));
    assertThat(done.results().get(5).file())
        .hasValueSatisfying(file -> assertThat(file.mode()).isEqualTo(0640));
    assertThat(sandbox.files().list("b")).extracting(FileInfo::name).containsExactly("moved");
  }

  @Test
  void batchStopsAtAFailureUnlessItKeepsGoing() {
    FileBatch batch = FileBatch.EMPTY.write("a", "1").read("absent").write("b", "2");
    FileBatchResult stopped = sandbox.files().batch(batch);
    assertThat(stopped.succeeded()).isFalse();
    assertThat(stopped.left()).isEqualTo(1);
    assertThat(stopped.results().get(1).problem())
        .hasValueSatisfying(problem -> assertThat(problem.code()).isEqualTo("FILE_NOT_FOUND"))
        .hasValueSatisfying(problem -> assertThat(problem.timestamp()).isPresent());
    assertThatThrownBy(stopped::orThrow).isInstanceOf(NotFound.class);
    assertThat(sandbox.files().find("b")).isEmpty();

    assertThat(sandbox.files().batch(batch.keepGoing()).left()).isZero();
    assertThat(sandbox.files().find("b")).isPresent();
    assertThatThrownBy(() -> sandbox.files().batch(FileBatch.EMPTY.write("../x\0", "2")))
        .isInstanceOf(InvalidRequest.class);
  }

  @Test
  void namesOfOtherApisAreAnsweredOrExplained() {
    try (Sandbox named = isola.create(SandboxSpec.builder().set("runtimeId", "chosen1").build())) {
      assertThat(named.id()).isEqualTo("chosen1");
      assertThat(named.info().document())
          .containsEntry("runtimeId", "chosen1")
          .containsEntry("runtime", "subprocess");
      assertThat(named.status().containerId()).isEmpty();
    }
    assertThatThrownBy(() -> isola.create(SandboxSpec.builder().set("runtime", "docker").build()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("runtime is unknown; use provider");
  }
}
