package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.provider.BasicFeature;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Checks that executions can be listed, signalled, attached to and replayed. */
public final class BackgroundChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long FLOOD = 20L * 1024 * 1024;

  @Check(value = "X8", needs = Attaching.class)
  public void runningCommandIsListed(CheckContext check) {
    Command command = Command.argv("sleep", "1000").withTag("my tag");
    Instant before = Instant.now();
    Execution execution = check.sandbox().start(command);
    ExecutionInfo info = info(check, execution.id());
    Expect.that(info.running(), "it is listed as running");
    Expect.equal(command.toArgv(), info.argv(), "its argument vector");
    Expect.equal(Optional.of("my tag"), info.tag(), "its tag");
    Expect.equal(execution.pid(), info.pid(), "its process id");
    Expect.equal(0L, info.endOffset(), "the end of its output");
    Expect.recent(before, info.startedAt(), "the time of its start");
    execution.kill();
    execution.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void pidIsTheOneTheSandboxSees(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("echo $$; cat").withStdin())) {
      String printed = ExecutionReader.of(execution).until("\n").stdout().strip();
      Expect.equal(printed, Long.toString(execution.pid()), "the process id");
      execution.kill();
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void endedCommandsAreListedWithTheirExit(CheckContext check) {
    ExecutionId exited = ended(check, "echo words; exit 7");
    ExecutionId killed = ended(check, "kill -9 $$");
    Expect.equal(Optional.of(new Exit.Exited(7)), info(check, exited).exit(), "the first's exit");
    Expect.equal(6L, info(check, exited).endOffset(), "the end of its output");
    Expect.equal(
        Optional.of(new Exit.Signaled(Signal.KILL)),
        info(check, killed).exit(),
        "the other's exit");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void listIsInTheOrderOfStarting(CheckContext check) {
    List<ExecutionId> started =
        Stream.of("one", "two", "three").map(word -> ended(check, "echo " + word)).toList();
    List<ExecutionId> listed =
        check.as(Attaching.class).executions().stream()
            .map(ExecutionInfo::id)
            .filter(started::contains)
            .toList();
    Expect.equal(started, listed, "the list, oldest first");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingReplaysFromTheStart(CheckContext check) {
    ExecutionId id = ended(check, "echo out; echo err >&2; exit 3");
    try (Execution again = check.as(Attaching.class).attach(id, 0)) {
      ExecutionReader reading = ExecutionReader.of(again).toEnd();
      Expect.equal("out\n", reading.stdout(), "stdout");
      Expect.equal("err\n", reading.stderr(), "stderr");
      Expect.equal(new Exit.Exited(3), again.await(), "the exit");
      Expect.equal(id, again.id(), "the id");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingReplaysFromAnOffset(CheckContext check) {
    ExecutionId id = ended(check, "printf 0123456789");
    for (int offset : List.of(1, 5, 9)) {
      try (Execution again = check.as(Attaching.class).attach(id, offset)) {
        Expect.equal(
            "0123456789".substring(offset),
            new ExecutionReader(again, offset).toEnd().stdout(),
            "the output from " + offset);
      }
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingToARunningCommandFollowsIt(CheckContext check) throws IOException {
    Execution first = check.sandbox().start(Command.shell("echo before; cat").withStdin());
    ExecutionReader.of(first).until("before\n");
    try (Execution again = check.as(Attaching.class).attach(first.id(), 0)) {
      ExecutionReader reading = ExecutionReader.of(again).until("before\n");
      first.stdin().write("after\n".getBytes(UTF_8));
      first.stdin().flush();
      Expect.equal("before\nafter\n", reading.until("after\n").stdout(), "what the second reads");
      again.kill();
    }
    first.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void closingTheHandleLeavesTheCommandRunning(CheckContext check) {
    Execution execution = check.sandbox().start(Command.shell("echo $$; sleep 1000"));
    String pid = ExecutionReader.of(execution).until("\n").stdout().strip();
    execution.close();
    Processes.expectAlive(check.sandbox(), pid, "the command after its handle was closed");
    Expect.that(info(check, execution.id()).running(), "it is listed as running");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void outputDroppedFromTheJournalIsReportedAsAGap(CheckContext check) {
    Command command = Command.shell("read x; head -c " + FLOOD + " /dev/zero; echo tail");
    Execution execution = check.sandbox().start(command.withStdin());
    sendLineThenDetach(execution, "go\n");
    Expect.eventually(TIMEOUT, "it ends alone", () -> !info(check, execution.id()).running());
    ExecutionInfo info = info(check, execution.id());
    Expect.equal(FLOOD + 5, info.endOffset(), "the end of its output");
    try (Execution again = check.as(Attaching.class).attach(execution.id(), 0)) {
      ExecutionReader reading = ExecutionReader.of(again).toEnd();
      Expect.that(reading.pieces().getFirst() instanceof Output.Gap, "the first chunk is a gap");
      Expect.equal(info.firstOffset(), reading.pieces().getFirst().end(), "the end of the gap");
      Expect.equal(FLOOD + 5, reading.position(), "the end of what was read");
      Expect.that(reading.stdout().endsWith("tail\n"), "the end of the output is retained");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void detachedCommandIsNotBlocked(CheckContext check) {
    Execution execution =
        check
            .sandbox()
            .start(
                Command.shell("read x; head -c " + FLOOD + " /dev/zero; touch done").withStdin());
    sendLineThenDetach(execution, "go\n");
    Expect.eventually(
        TIMEOUT,
        "it ends without an attached reader",
        () -> check.sandbox().files().exists("done"));
  }

  @Check(value = "X8", needs = Attaching.class)
  public void unknownExecutionIsNotFound(CheckContext check) {
    Attaching attaching = check.as(Attaching.class);
    for (String unknown : List.of("99999999", "nonsense", "0")) {
      Expect.thrown(
          "attach to " + unknown,
          () -> attaching.attach(new ExecutionId(unknown), 0).close(),
          ErrorCode.EXECUTION_NOT_FOUND);
    }
  }

  @Check(value = "X8", basics = BasicFeature.SIGNALS)
  public void signalsReachTheCommand(CheckContext check) {
    for (Signal signal : List.of(Signal.TERM, Signal.KILL, Signal.HUP, Signal.USR1)) {
      try (Execution execution = check.sandbox().start(Command.shell("echo up; sleep 1000"))) {
        ExecutionReader.of(execution).until("up\n");
        execution.signal(signal);
        Expect.equal(new Exit.Signaled(signal), awaited(execution), "the exit");
      }
    }
  }

  @Check(value = "X8", tools = "sh", basics = BasicFeature.SIGNALS)
  public void signalReachesTheWholeGroup(CheckContext check) {
    try (Execution execution =
        check.sandbox().start(Command.shell("sh -c 'echo $$; sleep 1000' & sleep 1000"))) {
      String child = ExecutionReader.of(execution).until("\n").stdout().strip();
      execution.signal(Signal.TERM);
      Expect.equal(new Exit.Signaled(Signal.TERM), awaited(execution), "the exit");
      Processes.expectDead(check.sandbox(), child, "the child in the same group");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void twoReadersBothGetEverything(CheckContext check) throws InterruptedException {
    Execution first = check.sandbox().start(Command.shell("read x; seq 1 50000").withStdin());
    Execution second = check.as(Attaching.class).attach(first.id(), 0);
    ConcurrentCalls.Call<byte[]> other =
        ConcurrentCalls.start(() -> ExecutionReader.of(second).toEnd().bytes(Channel.STDOUT));
    ConcurrentCalls.Call<byte[]> one =
        ConcurrentCalls.start(() -> ExecutionReader.of(first).toEnd().bytes(Channel.STDOUT));
    sendLine(first);
    byte[] expected = one.get(TIMEOUT, "the first reader reads to the end");
    Expect.equal(288_894, expected.length, "what the first reader got");
    Expect.equal(expected, other.get(TIMEOUT, "the second reader reads on"), "the second reader's");
    first.close();
    second.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void laterAttachmentCanWriteToStdin(CheckContext check) throws IOException {
    Execution first = check.sandbox().start(Command.shell("read x; echo got $x; cat").withStdin());
    first.close();
    try (Execution again = check.as(Attaching.class).attach(first.id(), 0)) {
      again.stdin().write("words\n".getBytes(UTF_8));
      again.stdin().flush();
      ExecutionReader reading = ExecutionReader.of(again).until("got words\n");
      again.stdin().close();
      reading.toEnd();
      Expect.equal(new Exit.Exited(0), again.await(), "the exit after end of file");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void idsAreNeverReused(CheckContext check) {
    Set<ExecutionId> seen = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      Expect.that(seen.add(ended(check, "true")), "the id of command " + i + " is new");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void signalThroughALaterAttachment(CheckContext check) {
    Execution first = check.sandbox().start(Command.shell("echo up; sleep 1000"));
    first.close();
    try (Execution again = check.as(Attaching.class).attach(first.id(), 0)) {
      ExecutionReader.of(again).until("up\n");
      again.signal(Signal.TERM);
      Expect.equal(new Exit.Signaled(Signal.TERM), awaited(again), "the exit");
    }
  }

  private static ExecutionId ended(CheckContext check, String shell) {
    try (Execution execution = check.sandbox().start(Command.shell(shell))) {
      awaited(execution);
      return execution.id();
    }
  }

  private static Exit awaited(Execution execution) {
    return execution
        .await(TIMEOUT)
        .orElseThrow(() -> new CheckFailed("the command did not end within " + TIMEOUT));
  }

  private static void sendLineThenDetach(Execution execution, String words) {
    try {
      execution.stdin().write(words.getBytes(UTF_8));
      execution.stdin().flush();
    } catch (IOException e) {
      throw new CheckFailed("writing to stdin threw " + e);
    }
    execution.close();
  }

  private static void sendLine(Execution execution) {
    try {
      execution.stdin().write('\n');
      execution.stdin().flush();
    } catch (IOException e) {
      throw new CheckFailed("writing to stdin threw " + e);
    }
  }

  private static ExecutionInfo info(CheckContext check, ExecutionId id) {
    return check.as(Attaching.class).executions().stream()
        .filter(info -> info.id().equals(id))
        .findAny()
        .orElseThrow(() -> new CheckFailed("execution " + id + " is not listed"));
  }
}
