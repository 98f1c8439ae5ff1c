package dev.isola.conformance.check;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.spec.ResourceLimits;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Checks that processes and threads are limited separately, and that commands can always start. */
public final class ProcessLimitChecks {
  /** Counts processes; the threads of a kernel have no command line. */
  private static final String PROCESSES = "grep -la . /proc/[0-9]*/cmdline 2>/dev/null | wc -l";

  private static final ResourceLimits DEFAULT = ResourceLimits.DEFAULT;

  /** Starts the given number of threads and prints how many it started. */
  private static final String THREADS =
      """
      import sys, threading
      n = 0
      stop = threading.Event()
      threading.stack_size(65536)
      try:
          for i in range(int(sys.argv[1])):
              threading.Thread(target=stop.wait, daemon=True).start()
              n += 1
      except RuntimeError as e:
          print(n, 'threads:', e)
          stop.set()
          sys.exit(1)
      print(n, 'threads')
      stop.set()
      """;

  /** The first process exits immediately; the others keep forking, even while fork fails. */
  private static final String BOMB =
      """
      import os
      if os.fork(): os._exit(0)
      while True:
          try: os.fork()
          except OSError: pass
      """;

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static Sandbox limited(CheckContext check, LimitKind kind, ResourceLimits limits) {
    if (!check.info().support().enforcedLimits().contains(kind)) {
      throw check.notRun(
          "the provider does not declare " + kind.name().toLowerCase(Locale.ROOT) + " as enforced");
    }
    return check.create(spec -> spec.limits(limits));
  }

  private static void expectUsable(Sandbox sandbox) {
    ExecResult after = sandbox.run(Command.shell("echo works").withTimeout(TIMEOUT));
    Expect.equal("works\n", after.stdout().text(), "a command after the limit was met");
  }

  private static Command threads(int count) {
    return Command.argv("python3", "-c", THREADS, Integer.toString(count)).withTimeout(TIMEOUT);
  }

  @Check(value = "S2", tools = "while")
  public void processesAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.PROCESSES, DEFAULT.withProcesses(24));
    ExecResult few = sandbox.run(sleepers(20, "kill $p"));
    Expect.equal("started\n", few.stdout().text(), "what 20 processes in a limit of 24 say");
    Expect.that(few.succeeded(), "20 processes fit into a limit of 24: " + few);
    ExecResult many = sandbox.run(sleepers(200, "sleep 100"));
    Expect.that(!many.succeeded(), "200 processes do not fit into a limit of 24: " + many);
    Expect.that(!many.timedOut(), "the command is ended, not waited for: " + many);
    Expect.that(
        many.limitsMet().contains(LimitKind.PROCESSES), "the result names the limit: " + many);
    ExecResult left =
        sandbox.run(Command.shell("cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep; :"));
    Expect.equal("0\n", left.stdout().text(), "what is left of the command that was ended");
  }

  private static Command sleepers(int count, String then) {
    return Command.shell(
            "i=0; while test $i -lt "
                + count
                + "; do sleep 1000 >/dev/null 2>&1 & p=\"$p $!\"; i=$((i+1)); done; echo started; "
                + then)
        .withTimeout(TIMEOUT);
  }

  @Check(value = "S2", tools = "python3")
  public void threadsAreNotProcesses(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.THREADS, DEFAULT.withProcesses(4));
    ExecResult result = sandbox.run(threads(600));
    Expect.equal("600 threads\n", result.stdout().text(), "what 600 threads say: " + result);
    Expect.that(result.limitsMet().isEmpty(), "no limit is met: " + result);
  }

  @Check(value = "S2", tools = "python3")
  public void threadsAreLimited(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.THREADS, DEFAULT.withThreads(100));
    ExecResult result = sandbox.run(threads(600));
    Expect.that(!result.succeeded(), "600 threads do not fit into a limit of 100: " + result);
    Expect.that(
        result.limitsMet().contains(LimitKind.THREADS), "the result names the limit: " + result);
    expectUsable(sandbox);
  }

  @Check("S2")
  public void commandsWaitForFreeThreads(CheckContext check) throws InterruptedException {
    Sandbox sandbox = limited(check, LimitKind.THREADS, DEFAULT.withThreads(8));
    Command one = Command.argv("sleep", "0.1");
    List<Exit> ends = ConcurrentCalls.all(64, number -> sandbox.run(one).exit());
    Expect.equal(Collections.nCopies(64, new Exit.Exited(0)), ends, "how 64 commands at once end");
  }

  @Check(value = "S2", tools = "python3")
  public void commandsStartDespiteAForkBomb(CheckContext check) {
    Sandbox sandbox =
        limited(check, LimitKind.PROCESSES, DEFAULT.withProcesses(40).withThreads(200));
    try (Execution bomb = sandbox.start(Command.argv("python3", "-c", BOMB))) {
      bomb.await(Duration.ofSeconds(20));
      expectUsable(sandbox);
    }
    expectUsable(sandbox);
    Expect.eventually(
        TIMEOUT,
        "nothing of the fork bomb is left",
        () ->
            sandbox
                .run(Command.shell(PROCESSES).withTimeout(TIMEOUT))
                .stdout()
                .text()
                .strip()
                .matches("[0-9]|1[0-9]"));
  }

  @Check(value = "S2", tools = "setsid")
  public void commandsStartDespiteOrphanedProcesses(CheckContext check) {
    Sandbox sandbox =
        limited(check, LimitKind.PROCESSES, DEFAULT.withProcesses(40).withThreads(200));
    sandbox.run(
        Command.shell(
                "i=0; while test $i -lt 60; do setsid sleep 1000 >/dev/null 2>&1 & i=$((i+1));"
                    + " done")
            .withTimeout(TIMEOUT));
    for (int i = 0; i < 20; i++) {
      expectUsable(sandbox);
    }
  }

  @Check(value = "S2", tools = "python3")
  public void commandsStartWhenAllThreadsAreUsed(CheckContext check) {
    Sandbox sandbox = limited(check, LimitKind.THREADS, DEFAULT.withThreads(200));
    String stay = THREADS.replace("stop.set()\n    sys.exit(1)", "sys.stdout.flush(); stop.wait()");
    try (Execution crowd = sandbox.start(Command.argv("python3", "-c", stay, "1000"))) {
      Expect.that(crowd.read().isPresent(), "the command says that it can start no more threads");
      expectUsable(sandbox);
    }
  }
}
