package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * S1, A1: {@code sudo} works for users that the image permits to use it, in every sandbox of that
 * image however it is created (E2bSdkTest covers sandboxes of E2B clients), and grants no more than
 * root in the sandbox.
 */
@Timeout(240)
class SudoTest {
  private static final String NO_DOCKER = "unix:///nowhere/docker.sock";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String SUDO = "/usr/local/bin/sudo ";

  /** Number of requests served concurrently. */
  private static final int MOST = 64;

  private static final String RIGHTS =
      "grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status; cat /proc/self/limits"
          + " /proc/self/cgroup /proc/self/oom_score_adj";

  private static final String HELPERS = count("[-]-sudo");

  @TempDir Path folder;

  /**
   * Counts processes by their command line, joined by underscores. Brackets keep the pattern from
   * matching itself.
   */
  private static String count(String pattern) {
    return "cat /proc/[0-9]*/cmdline | busybox tr '\\000' _ | grep -o -e '" + pattern + "' | wc -l";
  }

  private ProviderEngine open(String provider, String groups) throws IOException {
    SmallImage.addWithGroups(folder, folder, SmallImage.NAME, groups);
    return ProviderEngine.open(folder, NO_DOCKER, List.of(provider));
  }

  private ProviderEngine open(String provider) throws IOException {
    return open(provider, "sudo:x:27:user\n");
  }

  private static SandboxSpec.Builder spec(String id) {
    return SandboxSpec.builder(new SandboxId(id)).image(SmallImage.NAME);
  }

  private static ExecResult run(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script).withTimeout(TIMEOUT));
  }

  private static String output(Sandbox sandbox, String script) {
    ExecResult result = run(sandbox, script);
    assertThat(result.succeeded()).as("%s: %s", script, result).isTrue();
    return result.stdout().text();
  }

  /** Waits until a script, run as root, prints the expected output. */
  private static void await(Sandbox sandbox, String script, String expected) {
    Awaitility.await(script)
        .atMost(TIMEOUT)
        .until(() -> ProviderEngine.output(sandbox, script), expected::equals);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun", "runc"})
  void groupMemberBecomesRootOfTheSandboxOnly(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox sandbox = made.make(spec("plain"), provider);
      assertThat(output(sandbox, "id -u; " + SUDO + "id -u")).isEqualTo("1000\n0\n");
      assertThat(output(sandbox, "echo typed | " + SUDO + "cat")).isEqualTo("typed\n");
      assertThat(run(sandbox, SUDO + "sh -c 'exit 42'").exitCode()).isEqualTo(42);
      assertThat(output(sandbox, SUDO + "sh -c \"" + RIGHTS + "\""))
          .isEqualTo(ProviderEngine.output(sandbox, RIGHTS));
      assertThat(sandbox.as(Attaching.class).orElseThrow().executions())
          .as("nothing was started for it")
          .noneMatch(ExecutionInfo::running);
      await(sandbox, HELPERS, "0\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun", "runc"})
  void sudoWorksAfterAPauseAndInAFork(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox source = made.make(spec("source"), provider);
      made.engine().sandboxes().pause(source.id(), PauseKind.FILESYSTEM);
      made.engine().sandboxes().resume(source.id());
      Sandbox resumed = made.engine().sandboxes().get(source.id());
      assertThat(output(resumed, SUDO + "id -u")).isEqualTo("0\n");
      for (ForkResult fork : made.engine().forks().fork(source.id(), ForkRequest.of(1))) {
        assertThat(fork).isInstanceOf(ForkResult.Created.class);
        Sandbox forked = made.engine().sandboxes().get(((ForkResult.Created) fork).view().id());
        assertThat(output(forked, SUDO + "id -u")).isEqualTo("0\n");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun", "runc"})
  void otherUsersAreRejected(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox sandbox = made.make(spec("other"), provider);
      ExecResult other = sandbox.run(Command.shell(SUDO + "id -u").withUser("1001"));
      assertThat(other.exitCode()).isEqualTo(1);
      assertThat(other.stderr().text()).contains("not in the group sudo");
      ExecResult forged = sandbox.run(Command.shell(SUDO + "-u user id -u").withUser("1001"));
      assertThat(forged.exitCode()).isEqualTo(1);
      assertThat(run(sandbox, "rm /run/isola/sudo").succeeded()).as("not its socket").isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun"})
  void sudoIsAvailableOnlyIfAUserIsPermitted(String provider) throws IOException {
    try (ProviderEngine made = open(provider, "sudo:x:27:\n")) {
      Sandbox sandbox = made.make(spec("later"), provider);
      assertThat(
              output(sandbox, "test ! -e /run/isola && test ! -h /usr/local/bin/sudo && echo no"))
          .isEqualTo("no\n");
      ProviderEngine.output(
          sandbox, "printf 'root:x:0:\\nsudo:x:27:user\\nuser:x:1000:\\n' > /etc/group");
      assertThat(output(sandbox, SUDO + "id -u")).isEqualTo("0\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun"})
  void processesStartedBySudoEndWithTheCallingCommand(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox sandbox = made.make(spec("ends"), provider);
      String script = SUDO + "sh -c 'busybox setsid sleep 4711 & sleep 4712'";
      try (Execution execution = sandbox.start(Command.shell(script))) {
        await(sandbox, count("[s]leep_471[12]"), "2\n");
        execution.kill();
      }
      await(sandbox, count("[s]leep_471[12]"), "0\n");
      assertThat(output(sandbox, SUDO + "id -u")).isEqualTo("0\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun"})
  void processesStartedBySudoCountTowardsTheProcessLimit(String provider) throws IOException {
    try (ProviderEngine made = open(provider)) {
      Sandbox sandbox =
          made.make(spec("many").limits(ResourceLimits.DEFAULT.withProcesses(24)), provider);
      ExecResult many =
          run(sandbox, SUDO + "sh -c 'for i in $(seq 200); do sleep 4711 & done; sleep 4711'");
      assertThat(many.succeeded()).as("%s", many).isFalse();
      assertThat(many.timedOut()).as("%s", many).isFalse();
      await(sandbox, count("[s]leep_4711"), "0\n");
      assertThat(output(sandbox, SUDO + "id -u")).as("afterwards").isEqualTo("0\n");
    }
  }

  @Test
  void requestsBeyondTheConcurrencyLimitWait() throws IOException {
    try (ProviderEngine made = open("bubblewrap")) {
      Sandbox sandbox =
          made.make(
              spec("bounded").limits(ResourceLimits.DEFAULT.withProcesses(400)), "bubblewrap");
      String script = "for i in $(seq 70); do " + SUDO + "sleep 4711 & done; sleep 4711";
      try (Execution execution = sandbox.start(Command.shell(script))) {
        await(sandbox, count("[b]in/sudo_sleep"), "70\n");
        await(sandbox, HELPERS, MOST + "\n");
        execution.kill();
      }
      assertThat(output(sandbox, SUDO + "id -u")).as("afterwards").isEqualTo("0\n");
      await(sandbox, HELPERS, "0\n");
    }
  }

  @Test
  void sudoWorksInContainers() throws IOException {
    TestContainerEngine.Kind.DOCKER
        .missing()
        .ifPresent(what -> Assumptions.abort("NOT RUN: " + what + " is missing"));
    SmallImage.addWithGroups(folder, folder, SmallImage.NAME, "sudo:x:27:user\n");
    try (TestContainerEngine containers = TestContainerEngine.docker(false);
        ProviderEngine made = ProviderEngine.open(folder, containers.host(), List.of("docker"))) {
      Sandbox sandbox = made.make(spec("contained"), "docker");
      assertThat(output(sandbox, "id -u; " + SUDO + "id -u")).isEqualTo("1000\n0\n");
      assertThat(output(sandbox, SUDO + "sh -c \"" + RIGHTS + "\""))
          .isEqualTo(ProviderEngine.output(sandbox, RIGHTS));
      ExecResult other = sandbox.run(Command.shell(SUDO + "id -u").withUser("1001"));
      assertThat(other.exitCode()).isEqualTo(1);
    }
  }
}
