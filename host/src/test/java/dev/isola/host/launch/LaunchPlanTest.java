package dev.isola.host.launch;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.link.local.AgentStarter;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the launcher executes plans and reports invalid ones. */
final class LaunchPlanTest {
  @TempDir Path folder;

  private void launch(byte[] plan) {
    AgentStarter.start(
        new SandboxId("plan"),
        List.of(LauncherBinary.install(folder).toString()),
        plan,
        Duration.ofSeconds(20));
  }

  private void refused(LaunchPlan plan, String... words) {
    assertThatThrownBy(() -> launch(plan.encode()))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContainingAll(words)
        .extracting(e -> ((SandboxException) e).code())
        .isEqualTo(ErrorCode.SPAWN_FAILED);
  }

  @Test
  void unknownStepIsNamed() {
    refused(new LaunchPlan().step("dance"), "unknown step: dance");
  }

  @Test
  void incompleteStepIsNamed() {
    refused(new LaunchPlan().step("users", "0"), "step users has too few words");
  }

  @Test
  void planWithoutRunIsRejected() {
    refused(new LaunchPlan().step("score", "0"), "no step run");
  }

  @Test
  void emptyPlanIsRejected() {
    refused(new LaunchPlan(), "the plan is empty");
  }

  @Test
  void truncatedPlanIsRejected() {
    byte[] whole = new LaunchPlan().step("score", "0").encode();
    for (int length : new int[] {1, 5, 9, whole.length - 1}) {
      assertThatThrownBy(() -> launch(java.util.Arrays.copyOf(whole, length)))
          .hasMessageContaining("the plan");
    }
  }

  @Test
  void missingProgramIsNamed() {
    refused(new LaunchPlan().run(List.of("/no/such/program")), "cannot execute /no/such/program");
  }

  /** Returns a copy of a shell in a folder that only its owner can enter, below the stage. */
  private static Path privateShell() throws IOException {
    Path folder = Files.createTempDirectory(Path.of("/tmp"), "isola-program");
    return Files.copy(Path.of("/bin/sh"), folder.resolve("shell"), COPY_ATTRIBUTES);
  }

  private static void remove(Path shell) throws IOException {
    Files.delete(shell);
    Files.delete(shell.getParent());
  }

  private static LaunchPlan rootPlan() {
    return SandboxUserIds.rangesAvailable() ? new LaunchPlan() : new LaunchPlan().step("self");
  }

  @Test
  void programBelowTheStageIsExecuted() throws IOException {
    Path shell = privateShell();
    try {
      List<String> run = List.of(shell.toString(), "-c", "echo it runs >&2; exit 3");
      refused(rootPlan().step("stage").run(run), "it runs");
    } finally {
      remove(shell);
    }
  }

  @Test
  void programThatRootOfTheUserNamespaceCannotReachIsExecuted() throws IOException {
    if (!SandboxUserIds.rangesAvailable()) {
      Assumptions.abort("NOT RUN: only root has ranges of users");
    }
    Path home = Files.createTempDirectory(Path.of("/var/tmp"), "isola-home"); // not below the stage
    Path shell = Files.copy(Path.of("/bin/sh"), home.resolve("shell"), COPY_ATTRIBUTES);
    try {
      List<String> run = List.of(shell.toString(), "-c", "echo it runs >&2; exit 3");
      refused(
          new LaunchPlan()
              .step("users", "0", "1879048192", "65536")
              .step("stage")
              .step("enter")
              .run(run),
          "it runs");
    } finally {
      remove(shell);
    }
  }

  @Test
  void fileOfTheSandboxIsNotExecutedInPlaceOfTheProgram() {
    refused(
        rootPlan()
            .step("stage")
            .step("bind", "/bin/sh", "/bin/sh")
            .run(List.of("/tmp/root/bin/sh", "-c", "echo it runs >&2; exit 3")),
        "cannot execute /tmp/root/bin/sh: No such file or directory");
  }

  @Test
  void fileOfTheSandboxAtThePathOfTheProgramIsNotExecuted() throws IOException {
    Path root = Path.of("/tmp/root"); // the root of the sandbox on the stage
    boolean isNew = !Files.exists(root);
    Files.createDirectories(root);
    Path home = Files.createTempDirectory(root, "isola-program");
    Path shell = Files.copy(Path.of("/bin/sh"), home.resolve("shell"), COPY_ATTRIBUTES);
    try {
      refused(
          rootPlan()
              .step("stage")
              .step("bind", "/bin/true", "/" + root.relativize(shell))
              .run(List.of(shell.toString(), "-c", "echo it runs >&2; exit 3")),
          "it runs");
    } finally {
      remove(shell);
      if (isNew) {
        Files.delete(root);
      }
    }
  }

  @Test
  void errorOutputOfTheProgramIsReported() {
    refused(
        new LaunchPlan().run(List.of("/bin/sh", "-c", "echo it hurts >&2; exit 3")), "it hurts");
  }

  @Test
  void silentProgramIsNotReady() {
    refused(new LaunchPlan().run(List.of("/bin/true")), "ended before it was ready");
  }

  @Test
  void missingCgroupIsNamed() {
    refused(
        new LaunchPlan().step("cgroup", "/no/such/cgroup.procs"),
        "cannot join /no/such/cgroup.procs");
  }

  @Test
  void sandboxEndsWhenTheClientDisconnects() throws Exception {
    byte[] plan =
        new LaunchPlan().run(List.of("/bin/sh", "-c", "sleep 1000 & sleep 1000")).encode();
    Process launcher =
        new ProcessBuilder(LauncherBinary.install(folder).toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (OutputStream in = launcher.getOutputStream()) {
      in.write(plan);
    }
    await().until(() -> launcher.descendants().count() == 3);
    List<ProcessHandle> begun = launcher.descendants().toList();
    assertThat(launcher.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
    assertThat(begun).allMatch(ProcessHandle::isAlive);
    launcher.getInputStream().close();
    assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    await().until(() -> begun.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Test
  void replaceStepKeepsTheOtherSteps() {
    byte[] secret = {0, -1, 7};
    LaunchPlan plan = new LaunchPlan().step("stage").step("workspace", "/w", "a", "b").boot(secret);
    LaunchPlan read = LaunchPlan.decode(plan.encode());
    assertThat(read.encode()).isEqualTo(plan.encode());
    assertThat(read.find("workspace")).contains(List.of("workspace", "/w", "a", "b"));
    assertThat(read.find("run")).isEmpty();
    assertThat(read.replaceStep(List.of("workspace", "/w", "c")).encode())
        .isEqualTo(
            new LaunchPlan().step("stage").step("workspace", "/w", "c").boot(secret).encode());
  }
}
