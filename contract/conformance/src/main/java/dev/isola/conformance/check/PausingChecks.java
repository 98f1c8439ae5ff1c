package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Provider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Checks what a pause keeps, stops and rejects. */
public final class PausingChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static Pausing pausing(CheckContext check, PauseKind kind) {
    Pausing pausing = check.as(Pausing.class);
    if (!pausing.kinds().contains(kind)) {
      throw check.notRun("the provider does not support this kind of pause: " + kind);
    }
    return pausing;
  }

  @Check(
      value = "P6",
      needs = Pausing.class,
      tools = {"date", "while"})
  public void nothingRunsDuringAMemoryPause(CheckContext check) {
    Pausing pausing = pausing(check, PauseKind.MEMORY);
    Command clock = Command.shell("while :; do date +%s >> ticks; sleep 0.1; done");
    try (Execution ticking = check.sandbox().start(clock)) {
      Expect.eventually(TIMEOUT, "it ticks", () -> ticks(check).size() > 1);
      pausing.pause(PauseKind.MEMORY);
      Expect.letTimePass(Duration.ofMillis(3_300));
      pausing.resume();
      Expect.eventually(
          TIMEOUT,
          "there is a gap of the length of the pause",
          () -> longestGap(ticks(check)) >= 3);
      Expect.that(
          ticking.await(Duration.ofMillis(50)).isEmpty(),
          "the command keeps running after the pause");
      ticking.kill();
    }
  }

  private static List<Long> ticks(CheckContext check) {
    return check
        .output("cat ticks 2> /dev/null || true")
        .lines()
        .filter(line -> !line.isBlank())
        .map(Long::valueOf)
        .toList();
  }

  private static long longestGap(List<Long> ticks) {
    long longest = 0;
    for (int i = 1; i < ticks.size(); i++) {
      longest = Math.max(longest, ticks.get(i) - ticks.get(i - 1));
    }
    return longest;
  }

  @Check(value = "P6", needs = Pausing.class)
  public void processesEndInAFilesystemPause(CheckContext check) {
    Pausing pausing = pausing(check, PauseKind.FILESYSTEM);
    Execution before = check.sandbox().start(Command.shell("sleep 1000"));
    check.sandbox().files().write("kept", FileContents.of(new byte[100_000]), WriteOptions.DEFAULT);
    pausing.pause(PauseKind.FILESYSTEM);
    pausing.resume();
    Expect.equal("100000\n", check.output("wc -c < kept"), "the size of the file that was kept");
    Expect.equal("", check.output("pgrep sleep || true"), "the processes of before");
    before.close();
  }

  @Check(value = "P6", needs = Pausing.class)
  public void aRebootedSandboxHasAnotherBootId(CheckContext check) throws IOException {
    Pausing pausing = pausing(check, PauseKind.FILESYSTEM);
    String read = "cat /proc/sys/kernel/random/boot_id 2> /dev/null || true";
    String before = check.output(read);
    Path host = Path.of("/proc/sys/kernel/random/boot_id");
    if (before.isEmpty() || (Files.exists(host) && before.equals(Files.readString(host)))) {
      throw check.notRun("its sandboxes have no boot id of their own");
    }
    Expect.equal(before, check.output(read), "the boot id read again");
    pausing.pause(PauseKind.FILESYSTEM);
    pausing.resume();
    String after = check.output(read);
    Expect.that(
        !after.equals(before) && after.matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n"),
        "a new boot id after the reboot, not " + after.strip() + " after " + before.strip());
  }

  @Check(value = "P6", needs = Pausing.class)
  public void callsAreRefusedWhileItIsPaused(CheckContext check) {
    Pausing pausing = check.as(Pausing.class);
    for (PauseKind kind : pausing.kinds()) {
      pausing.pause(kind);
      Expect.thrown("a command while paused: " + kind, () -> check.run("echo"), Conflict.class);
      Expect.thrown(
          "a file while paused: " + kind,
          () -> check.sandbox().files().exists("x"),
          Conflict.class);
      pausing.resume();
      Expect.equal("works\n", check.output("echo works"), "a command after it");
    }
  }

  @Check(
      value = "P6",
      needs = {Pausing.class, Attaching.class})
  public void aPausedSandboxIsSeenAndResumedByAnotherProcess(CheckContext check) {
    Pausing pausing = check.as(Pausing.class);
    for (PauseKind kind : pausing.kinds()) {
      pausing.pause(kind);
      SandboxState expected = kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
      Provider other = check.anotherProcess();
      Expect.that(
          other.inventory().stream()
              .anyMatch(seen -> seen.id().equals(check.sandbox().id()) && seen.state() == expected),
          "the inventory shows it as " + expected);
      Sandbox attached = other.attach(check.sandbox().id()).orElseThrow();
      Expect.equal(expected, attached.state(), "the state of what was attached to");
      attached.as(Pausing.class).orElseThrow().resume();
      Expect.equal(
          "works\n",
          attached.run(Command.shell("echo works")).stdout().text(),
          "a command after another process resumed it");
      attached.start(Command.shell("sleep 1000")).close();
      pausing.resume();
      Expect.that(
          !check.as(Attaching.class).executions().isEmpty(),
          "a second resume keeps the processes started after the first");
    }
  }

  @Check(value = "P4", needs = Pausing.class)
  public void aPausedSandboxCanBeDestroyed(CheckContext check) {
    for (PauseKind kind : check.as(Pausing.class).kinds()) {
      Sandbox sandbox = check.create(spec -> spec);
      sandbox.start(Command.shell("sleep 1000")).close();
      sandbox.as(Pausing.class).orElseThrow().pause(kind);
      check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
      Expect.that(check.provider().attach(sandbox.id()).isEmpty(), "it is gone after " + kind);
    }
  }
}
