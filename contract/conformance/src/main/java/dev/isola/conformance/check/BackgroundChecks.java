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
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long FLOOD = 20L * 1024 * 1024;

  @Check(value = "X8", needs = Attaching.class)
  public void runningCommandIsListedAsItWasStarted(CheckContext s) {
    Command command = Command.argv("sleep", "1000").withTag("my tag");
    Execution execution = s.sandbox().start(command);
    ExecutionInfo info = info(s, execution.id());
    Expect.that(info.running(), "it is listed as running");
    Expect.equal(command.toArgv(), info.argv(), "its words");
    Expect.equal(Optional.of("my tag"), info.tag(), "its tag");
    Expect.equal(execution.pid(), info.pid(), "its process id");
    Expect.equal(0L, info.endOffset(), "the end of its output");
    Expect.that(
        Duration.between(info.startedAt(), Instant.now()).abs().toMinutes() < 2,
        "it was started about now: " + info.startedAt());
    execution.kill();
    execution.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void pidIsTheOneTheSandboxSees(CheckContext s) {
    try (Execution execution = s.sandbox().start(Command.shell("echo $$; cat").withStdin())) {
      String said = ExecutionReader.of(execution).until("\n").stdout().strip();
      Expect.equal(said, Long.toString(execution.pid()), "the process id");
      execution.kill();
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void endedCommandsAreListedWithTheirExit(CheckContext s) {
    ExecutionId exited = ended(s, "echo words; exit 7");
    ExecutionId killed = ended(s, "kill -9 $$");
    Expect.equal(Optional.of(new Exit.Exited(7)), info(s, exited).exit(), "the first's exit");
    Expect.equal(6L, info(s, exited).endOffset(), "the end of its output");
    Expect.equal(
        Optional.of(new Exit.Signaled(Signal.KILL)), info(s, killed).exit(), "the other's exit");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void listIsInTheOrderOfStarting(CheckContext s) {
    List<ExecutionId> started =
        Stream.of("one", "two", "three").map(word -> ended(s, "echo " + word)).toList();
    List<ExecutionId> listed =
        s.as(Attaching.class).executions().stream()
            .map(ExecutionInfo::id)
            .filter(started::contains)
            .toList();
    Expect.equal(started, listed, "the list, oldest first");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingReplaysFromTheStart(CheckContext s) {
    ExecutionId id = ended(s, "echo out; echo err >&2; exit 3");
    try (Execution again = s.as(Attaching.class).attach(id, 0)) {
      ExecutionReader reading = ExecutionReader.of(again).toEnd();
      Expect.equal("out\n", reading.stdout(), "stdout");
      Expect.equal("err\n", reading.stderr(), "stderr");
      Expect.equal(new Exit.Exited(3), again.await(), "the exit");
      Expect.equal(id, again.id(), "the id");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingReplaysFromAnOffset(CheckContext s) {
    ExecutionId id = ended(s, "printf 0123456789");
    for (int offset : List.of(1, 5, 9)) {
      try (Execution again = s.as(Attaching.class).attach(id, offset)) {
        Expect.equal(
            "0123456789".substring(offset),
            new ExecutionReader(again, offset).toEnd().stdout(),
            "the output from " + offset);
      }
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void attachingToARunningCommandFollowsIt(CheckContext s) throws IOException {
    Execution first = s.sandbox().start(Command.shell("echo before; cat").withStdin());
    ExecutionReader.of(first).until("before\n");
    try (Execution again = s.as(Attaching.class).attach(first.id(), 0)) {
      ExecutionReader reading = ExecutionReader.of(again).until("before\n");
      first.stdin().write("after\n".getBytes(UTF_8));
      first.stdin().flush();
      Expect.equal("before\nafter\n", reading.until("after\n").stdout(), "what the second reads");
      again.kill();
    }
    first.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void closingTheHandleLeavesTheCommandRunning(CheckContext s) {
    Execution execution = s.sandbox().start(Command.shell("echo $$; sleep 1000"));
    String pid = ExecutionReader.of(execution).until("\n").stdout().strip();
    execution.close();
    Processes.expectAlive(s.sandbox(), pid, "the command after its handle was closed");
    Expect.that(info(s, execution.id()).running(), "it is listed as running");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void whatTheJournalLostIsToldAsAGap(CheckContext s) {
    Command command = Command.shell("read x; head -c " + FLOOD + " /dev/zero; echo tail");
    Execution execution = s.sandbox().start(command.withStdin());
    letGo(execution, "go\n");
    Expect.eventually(PATIENCE, "it ends alone", () -> !info(s, execution.id()).running());
    ExecutionInfo info = info(s, execution.id());
    Expect.equal(FLOOD + 5, info.endOffset(), "the end of its output");
    try (Execution again = s.as(Attaching.class).attach(execution.id(), 0)) {
      ExecutionReader reading = ExecutionReader.of(again).toEnd();
      Expect.that(
          reading.pieces().getFirst() instanceof Output.Gap, "the first piece tells of a gap");
      Expect.equal(info.firstOffset(), reading.pieces().getFirst().end(), "the end of the gap");
      Expect.equal(FLOOD + 5, reading.position(), "the end of what was read");
      Expect.that(reading.stdout().endsWith("tail\n"), "the last words are there");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void commandNobodyReadsIsNotHeldBack(CheckContext s) {
    Execution execution =
        s.sandbox()
            .start(
                Command.shell("read x; head -c " + FLOOD + " /dev/zero; touch done").withStdin());
    letGo(execution, "go\n");
    Expect.eventually(
        PATIENCE, "it ends with nobody attached", () -> s.sandbox().files().exists("done"));
  }

  @Check(value = "X8", needs = Attaching.class)
  public void unknownExecutionIsNotFound(CheckContext s) {
    Attaching attaching = s.as(Attaching.class);
    for (String unknown : List.of("99999999", "nonsense", "0")) {
      Expect.thrown(
          "attach to " + unknown,
          () -> attaching.attach(new ExecutionId(unknown), 0).close(),
          ErrorCode.EXECUTION_NOT_FOUND);
    }
  }

  @Check("X8")
  public void signalsReachTheCommand(CheckContext s) {
    for (Signal signal : List.of(Signal.TERM, Signal.KILL, Signal.HUP, Signal.USR1)) {
      try (Execution execution = s.sandbox().start(Command.shell("echo up; sleep 1000"))) {
        ExecutionReader.of(execution).until("up\n");
        execution.signal(signal);
        Expect.equal(new Exit.Signaled(signal), awaited(execution), "the exit");
      }
    }
  }

  @Check(value = "X8", tools = "sh")
  public void signalReachesTheWholeGroup(CheckContext s) {
    try (Execution execution =
        s.sandbox().start(Command.shell("sh -c 'echo $$; sleep 1000' & sleep 1000"))) {
      String child = ExecutionReader.of(execution).until("\n").stdout().strip();
      execution.signal(Signal.TERM);
      Expect.equal(new Exit.Signaled(Signal.TERM), awaited(execution), "the exit");
      Processes.expectDead(s.sandbox(), child, "the child in the same group");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void twoReadersBothGetEverything(CheckContext s) throws InterruptedException {
    Execution first = s.sandbox().start(Command.shell("read x; seq 1 50000").withStdin());
    Execution second = s.as(Attaching.class).attach(first.id(), 0);
    ConcurrentCalls.Call<byte[]> other =
        ConcurrentCalls.start(() -> ExecutionReader.of(second).toEnd().bytes(Channel.STDOUT));
    ConcurrentCalls.Call<byte[]> one =
        ConcurrentCalls.start(() -> ExecutionReader.of(first).toEnd().bytes(Channel.STDOUT));
    sendLine(first);
    byte[] expected = one.get(PATIENCE, "the first reader reads to the end");
    Expect.equal(288_894, expected.length, "what the first reader got");
    Expect.equal(
        expected, other.get(PATIENCE, "the second reader reads on"), "the second reader's");
    first.close();
    second.close();
  }

  @Check(value = "X8", needs = Attaching.class)
  public void laterAttachmentCanWriteToStdin(CheckContext s) throws IOException {
    Execution first = s.sandbox().start(Command.shell("read x; echo got $x; cat").withStdin());
    first.close();
    try (Execution again = s.as(Attaching.class).attach(first.id(), 0)) {
      again.stdin().write("words\n".getBytes(UTF_8));
      again.stdin().flush();
      ExecutionReader reading = ExecutionReader.of(again).until("got words\n");
      again.stdin().close();
      reading.toEnd();
      Expect.equal(new Exit.Exited(0), again.await(), "the exit after end of file");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void idsAreNeverReused(CheckContext s) {
    Set<ExecutionId> seen = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      Expect.that(seen.add(ended(s, "true")), "the id of command " + i + " is new");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void signalThroughALaterAttachment(CheckContext s) {
    Execution first = s.sandbox().start(Command.shell("echo up; sleep 1000"));
    first.close();
    try (Execution again = s.as(Attaching.class).attach(first.id(), 0)) {
      ExecutionReader.of(again).until("up\n");
      again.signal(Signal.TERM);
      Expect.equal(new Exit.Signaled(Signal.TERM), awaited(again), "the exit");
    }
  }

  private static ExecutionId ended(CheckContext s, String shell) {
    try (Execution execution = s.sandbox().start(Command.shell(shell))) {
      awaited(execution);
      return execution.id();
    }
  }

  private static Exit awaited(Execution execution) {
    return execution
        .await(PATIENCE)
        .orElseThrow(() -> new CheckFailed("the command did not end within " + PATIENCE));
  }

  private static void letGo(Execution execution, String words) {
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

  private static ExecutionInfo info(CheckContext s, ExecutionId id) {
    return s.as(Attaching.class).executions().stream()
        .filter(info -> info.id().equals(id))
        .findAny()
        .orElseThrow(() -> new CheckFailed("execution " + id + " is not listed"));
  }
}
