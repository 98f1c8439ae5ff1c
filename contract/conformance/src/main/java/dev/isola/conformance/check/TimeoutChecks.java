package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.spec.ResourceLimits;
import java.time.Duration;
import java.util.List;

/** Checks timeouts, and that no process survives them. */
public final class TimeoutChecks {
  private static final Duration SHORT = Duration.ofMillis(500);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @Check("X4")
  public void timeoutIsAResult(CheckContext check) throws InterruptedException {
    ExecResult result = inTime(check.sandbox(), Command.argv("sleep", "1000").withTimeout(SHORT));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
    Expect.equal(new Exit.TimedOut(SHORT), result.exit(), "the exit");
    Expect.equal(124, result.exitCode(), "the code that a shell reports");
    Expect.that(result.duration().compareTo(TIMEOUT) < 0, "it took " + result.duration());
  }

  @Check("X4")
  public void outputBeforeTheTimeoutIsKept(CheckContext check) throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell("echo before; echo too >&2; sleep 1000; echo after")
                .withTimeout(Duration.ofSeconds(2)));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
    Expect.equal("before\n", result.stdout().text(), "stdout");
    Expect.equal("too\n", result.stderr().text(), "stderr");
  }

  @Check("X4")
  public void unusedTimeoutHasNoEffect(CheckContext check) {
    ExecResult result = check.run(Command.shell("echo fine; exit 3").withTimeout(LONG));
    Expect.equal(new Exit.Exited(3), result.exit(), "the exit");
    Expect.equal("fine\n", result.stdout().text(), "stdout");
  }

  @Check(value = "X4", tools = "sh", basics = BasicFeature.BACKGROUND_PROCESSES)
  public void wholeTreeIsDeadAfterwards(CheckContext check) throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell(
                    "echo $$\nsh -c 'echo $$; sleep 1000' &\n"
                        + "sh -c 'sh -c \"echo \\$\\$; sleep 1000\" & wait' &\nwait")
                .withTimeout(Duration.ofSeconds(2)));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
    List<String> pids = result.stdout().text().lines().toList();
    Expect.equal(3, pids.size(), "the number of printed process ids");
    for (String pid : pids) {
      Processes.expectDead(check.sandbox(), pid, "a process of the tree");
    }
  }

  @Check(
      value = "X4",
      tools = {"sh", "setsid"})
  public void childInAnotherSessionIsDeadAfterwards(CheckContext check)
      throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell("setsid sh -c 'echo $$; sleep 1000' & sleep 1000")
                .withTimeout(Duration.ofSeconds(2)));
    Processes.expectDead(
        check.sandbox(), result.stdout().text().strip(), "the process in its own session");
  }

  @Check(
      value = "X4",
      tools = {"sh", "setsid"})
  public void orphanInAnotherSessionIsDeadAfterwards(CheckContext check)
      throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell("setsid sh -c \"sh -c 'echo \\$\\$; sleep 1000' &\"; sleep 1000")
                .withTimeout(Duration.ofSeconds(2)));
    Processes.expectDead(check.sandbox(), result.stdout().text().strip(), "the orphan");
  }

  @Check(value = "X4", tools = "trap", basics = BasicFeature.BACKGROUND_PROCESSES)
  public void commandThatIgnoresTermIsDeadAfterwards(CheckContext check)
      throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell("trap '' TERM INT HUP; echo $$; while true; do sleep 1; done")
                .withTimeout(Duration.ofSeconds(1)));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
    Processes.expectDead(check.sandbox(), result.stdout().text().strip(), "the stubborn command");
  }

  @Check("X4")
  public void childThatHoldsThePipeDoesNotDelayTheTimeout(CheckContext check)
      throws InterruptedException {
    ExecResult result =
        inTime(check.sandbox(), Command.shell("sleep 1000 & sleep 1000").withTimeout(SHORT));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
  }

  @Check("X4")
  public void floodingCommandTimesOutToo(CheckContext check) throws InterruptedException {
    ExecResult result =
        inTime(
            check.sandbox(),
            Command.shell("while true; do echo again and again; done")
                .withTimeout(Duration.ofSeconds(1)));
    Expect.that(result.timedOut(), "it timed out, but " + result.exit());
    Expect.that(result.stdout().total() > 0, "its output until then is counted");
  }

  @Check("X4")
  public void sandboxIsUsableAfterwards(CheckContext check) throws InterruptedException {
    check.sandbox().files().writeText("kept", "yes", UTF_8);
    for (int i = 0; i < 3; i++) {
      inTime(check.sandbox(), Command.argv("sleep", "1000").withTimeout(SHORT));
    }
    Expect.equal("yes", check.output("cat kept"), "the file after three timeouts");
  }

  @Check(value = "X4", basics = BasicFeature.BACKGROUND_PROCESSES)
  public void otherCommandsGoOnWhenOneTimesOut(CheckContext check) throws InterruptedException {
    try (Execution other =
        check.sandbox().start(Command.shell("echo $$; cat; echo end").withStdin())) {
      ExecutionReader reading = ExecutionReader.of(other).until("\n");
      inTime(check.sandbox(), Command.argv("sleep", "1000").withTimeout(SHORT));
      Processes.expectAlive(check.sandbox(), reading.stdout().strip(), "the other command");
      other.kill();
    }
  }

  @Check("X4")
  public void timeoutHoldsForAStartedCommand(CheckContext check) throws InterruptedException {
    try (Execution execution =
        check.sandbox().start(Command.argv("sleep", "1000").withTimeout(SHORT))) {
      Exit exit = ConcurrentCalls.start(() -> execution.await()).get(TIMEOUT, "await returns");
      Expect.equal(new Exit.TimedOut(SHORT), exit, "the exit");
    }
  }

  @Check("S2")
  public void timeoutOfTheSpecIsTheDefault(CheckContext check) throws InterruptedException {
    if (!check.info().support().enforcedLimits().contains(LimitKind.TIMEOUT)) {
      throw check.notRun("the provider does not enforce the spec's timeout");
    }
    Sandbox sandbox = check.create(spec -> spec.limits(ResourceLimits.DEFAULT.withTimeout(SHORT)));
    Expect.that(
        inTime(sandbox, Command.argv("sleep", "1000")).timedOut(), "a command without its own");
    ExecResult own = sandbox.run(Command.shell("sleep 1; echo late").withTimeout(LONG));
    Expect.equal("late\n", own.stdout().text(), "the output of a command with a longer one");
  }

  @Check(value = "X7", basics = BasicFeature.BACKGROUND_PROCESSES)
  public void interruptingRunKillsTheCommand(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    ConcurrentCalls.Call<ExecResult> call =
        ConcurrentCalls.start(() -> sandbox.run(Command.shell("echo $$ > pid; sleep 1000")));
    Expect.eventually(
        TIMEOUT,
        "the command writes its process id",
        () ->
            sandbox.files().exists("pid")
                && sandbox.files().stat("pid", NOFOLLOW_LINKS).size() > 1);
    String pid = sandbox.files().readText("pid", UTF_8, 100).strip();
    call.thread().interrupt();
    SandboxException e = failure(call);
    Expect.equal(ErrorCode.CANCELLED, e.code(), "the code of an interrupted run");
    Processes.expectDead(sandbox, pid, "the command of the interrupted run");
  }

  @Check(
      value = "X7",
      basics = BasicFeature.LIVE_STREAMS,
      tools = {"sh", "setsid"})
  public void killEndsTheWholeTree(CheckContext check) throws InterruptedException {
    Command command = Command.shell("setsid sh -c 'echo $$; sleep 1000' & sleep 1000");
    try (Execution execution = check.sandbox().start(command)) {
      String child = ExecutionReader.of(execution).until("\n").stdout().strip();
      execution.kill();
      Exit exit = ConcurrentCalls.start(() -> execution.await()).get(TIMEOUT, "await returns");
      Expect.that(exit instanceof Exit.Signaled, "it ended by a signal, but " + exit);
      Processes.expectDead(check.sandbox(), child, "the child that left the session");
    }
  }

  private static ExecResult inTime(Sandbox sandbox, Command command) throws InterruptedException {
    return ConcurrentCalls.start(() -> sandbox.run(command)).get(TIMEOUT, "run returns");
  }

  private static SandboxException failure(ConcurrentCalls.Call<ExecResult> call)
      throws InterruptedException {
    try {
      ExecResult result = call.get(TIMEOUT, "an interrupted run returns");
      throw new CheckFailed("an interrupted run returned " + result);
    } catch (SandboxException e) {
      return e;
    }
  }
}
