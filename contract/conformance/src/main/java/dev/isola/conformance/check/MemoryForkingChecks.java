package dev.isola.conformance.check;

import static dev.isola.conformance.check.ForkedFiles.all;
import static dev.isola.conformance.check.ForkedFiles.change;
import static dev.isola.conformance.check.ForkedFiles.output;
import static dev.isola.conformance.check.MemoryForks.createForkPoint;
import static dev.isola.conformance.check.MemoryForks.fork;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.conformance.check.CountingProgram.Answer;
import dev.isola.conformance.check.CountingProgram.Tick;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * Checks that processes continue in the source and in every fork of memory, and that each fork has
 * its own id, randomness, clock and files.
 */
public final class MemoryForkingChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** Far above what a checkpoint of these programs takes, even on a busy machine. */
  private static final Duration LONGEST_FREEZE = Duration.ofSeconds(10);

  /** The allowed difference between the clocks of a sandbox and of the host. */
  private static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(1);

  private static final int FORKS = 5;

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class},
      tools = "python3")
  public void programsContinueInTheSourceAndInEveryFork(CheckContext check)
      throws InterruptedException {
    List<Sandbox> forks = new ArrayList<>();
    List<CountingProgram> programs = new ArrayList<>();
    try (CountingProgram source = CountingProgram.start(check.sandbox())) {
      long before = source.last();
      ExecutionInfo listed = info(check.sandbox(), source.id());
      long began = System.nanoTime();
      try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
        Duration point = Duration.ofNanos(System.nanoTime() - began);
        expectShortFreeze(forkPoint);
        long after = source.last();
        source.awaitTick(after + 10); // so that forks begin in the past of the source
        List<Duration> durations = new ArrayList<>();
        for (Sandbox fork : forks(check, forkPoint, durations)) {
          Expect.that(info(fork, source.id()).running(), "the program runs in the fork");
          forks.add(fork);
          programs.add(CountingProgram.in(fork, source.id()));
        }
        check.note(
            "fork point "
                + point.toMillis()
                + " ms, frozen "
                + forkPoint.frozenFor().toMillis()
                + " ms, "
                + FORKS
                + " forks at once "
                + durations.stream().map(Duration::toMillis).sorted().toList()
                + " ms, longest pause between ticks "
                + longestPause(source.ticks()).toMillis()
                + " ms");
        expectContinued(source, programs, before, source.last());
        for (Sandbox fork : forks) {
          Expect.equal(listed.pid(), info(fork, source.id()).pid(), "the process id in a fork");
        }
      }
    } finally {
      programs.forEach(CountingProgram::close);
    }
  }

  private static void expectShortFreeze(ForkPoint forkPoint) {
    Duration frozen = forkPoint.frozenFor();
    Expect.that(
        frozen.isPositive() && frozen.compareTo(LONGEST_FREEZE) < 0,
        "the source is frozen for more than 0 s and less than "
            + LONGEST_FREEZE
            + ", not "
            + frozen);
  }

  private static List<Sandbox> forks(
      CheckContext check, ForkPoint forkPoint, List<Duration> durations)
      throws InterruptedException {
    return ConcurrentCalls.all(
        FORKS,
        _ -> {
          long began = System.nanoTime();
          Sandbox fork = fork(check, forkPoint);
          output(fork, "true");
          synchronized (durations) {
            durations.add(Duration.ofNanos(System.nanoTime() - began));
          }
          return fork;
        });
  }

  private static Duration longestPause(List<Tick> ticks) {
    return Duration.ofNanos(
        LongStream.range(1, ticks.size())
            .map(i -> ticks.get((int) i).nanos() - ticks.get((int) i - 1).nanos())
            .max()
            .orElse(0));
  }

  /**
   * Checks that all programs share their ticks up to one moment and no random bytes afterwards.
   *
   * @param before the last tick before the fork point was requested
   * @param after a tick after the fork point was created
   */
  private static void expectContinued(
      CountingProgram source, List<CountingProgram> forks, long before, long after) {
    List<Tick> expected = source.verify("the source's");
    Set<String> seen = new HashSet<>();
    Set<Integer> moments = new HashSet<>();
    for (CountingProgram fork : forks) {
      List<Tick> ticks = fork.verify("a fork's");
      int shared = shared(expected, ticks);
      moments.add(shared);
      Expect.that(
          shared >= before && shared <= after,
          "a fork continues from a tick between " + before + " and " + after + ", not " + shared);
      expectNew(ticks, shared, seen, "a fork");
    }
    Expect.equal(1, moments.size(), "the number of moments at which forks begin: " + moments);
    expectNew(expected, moments.iterator().next(), seen, "the source");
    Expect.equal(0L, source.reader().lost(), "the bytes that the source's reader lost");
  }

  private static int shared(List<Tick> one, List<Tick> other) {
    int shared = 0;
    while (shared < Math.min(one.size(), other.size())
        && one.get(shared).equals(other.get(shared))) {
      shared++;
    }
    return shared;
  }

  /** Ignores the first tick, whose random bytes may have been read before the fork. */
  private static void expectNew(List<Tick> ticks, int shared, Set<String> seen, String whose) {
    ticks.stream()
        .skip(shared + 1)
        .forEach(
            tick ->
                Expect.that(
                    seen.add(tick.random()),
                    whose + " has its own random bytes in tick " + tick.number()));
  }

  private static ExecutionInfo info(Sandbox sandbox, ExecutionId id) {
    return sandbox.as(Attaching.class).orElseThrow().executions().stream()
        .filter(info -> info.id().equals(id))
        .findAny()
        .orElseThrow(() -> new CheckFailed("execution " + id + " is not listed in the fork"));
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class, Terminals.class})
  public void terminalsContinue(CheckContext check) {
    TerminalSize size = new TerminalSize(80, 24);
    Execution terminal = check.as(Terminals.class).open(Command.argv("sh", "-i"), size);
    try (AttachedReader screen = new AttachedReader(terminal)) {
      screen.type("kit=kept; sleep 1000 & echo job-$?\n").awaitText("job-0\r\n");
      List<Sandbox> all = new ArrayList<>(List.of(check.sandbox()));
      try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
        all.add(fork(check, forkPoint));
        all.add(fork(check, forkPoint));
      }
      for (Sandbox one : all) {
        try (AttachedReader again = AttachedReader.attach(one, screen.id())) {
          again.type("kill -0 $! && echo $kit-alive\n").awaitText("kept-alive\r\n");
          again.type("kit=" + one.id() + "; echo now-$kit\n").awaitText("now-" + one.id() + "\r\n");
        }
      }
      screen.type("echo still-$kit\n").awaitText("still-" + check.sandbox().id() + "\r\n");
      for (Sandbox one : all) {
        try (AttachedReader again = AttachedReader.attach(one, screen.id())) {
          again.type("kill $!; wait; exit 7\n");
          Expect.equal(new Exit.Exited(7), again.awaitExit(), "the exit in " + one.id());
        }
      }
    }
  }

  /** The reader reads all the time, so that output is on its way when the sandbox is frozen. */
  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void attachedReaderGetsEveryByteOnce(CheckContext check) {
    String script = "i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i; done; echo end";
    try (AttachedReader reader = new AttachedReader(check.sandbox().start(Command.shell(script)))) {
      reader.awaitText("\n1000\n");
      for (int i = 0; i < 3; i++) {
        int length = reader.text().length();
        Sandbox fork = fork(check, check.sandbox());
        output(fork, "touch stop");
        try (AttachedReader other = AttachedReader.attach(fork, reader.id())) {
          Expect.equal(new Exit.Exited(0), other.awaitExit(), "the exit in the fork");
          expectCounted(other, "the fork's output");
        }
        Expect.eventually(
            TIMEOUT, "the source's output continues", () -> reader.text().length() > length);
      }
      output(check.sandbox(), "touch stop");
      Expect.equal(new Exit.Exited(0), reader.awaitExit(), "the exit in the source");
      Expect.equal(0L, reader.lost(), "the bytes that the source's reader lost");
      expectCounted(reader, "the source's output");
    }
  }

  /** Expects consecutive numbers; they start anywhere if older output is no longer retained. */
  private static void expectCounted(AttachedReader reader, String whose) {
    List<String> lines = reader.text().lines().toList();
    Expect.that(lines.size() > 2, whose + " has lines, not " + lines);
    Expect.equal("end", lines.getLast(), "the last line of " + whose);
    int first = reader.lost() == 0 ? 0 : 1; // the first may be part of a line
    long expected = reader.lost() == 0 ? 1 : Long.parseLong(lines.get(1));
    for (String line : lines.subList(first, lines.size() - 1)) {
      Expect.equal(Long.toString(expected++), line, "the next line of " + whose);
    }
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void blockedOutputContinues(CheckContext check) {
    int last = 1_500_000;
    StringBuilder numbers = new StringBuilder();
    for (int i = 1; i <= last; i++) {
      numbers.append(i).append('\n');
    }
    String expected = numbers.toString();
    Command command = Command.shell("seq 1 " + last);
    try (Execution unread = check.sandbox().start(command)) {
      ExecutionReader reading = ExecutionReader.of(unread);
      reading.next(); // the rest waits in buffers and in the command
      awaitBlocked(check.sandbox(), unread.id());
      Sandbox fork = fork(check, check.sandbox());
      try (AttachedReader other = AttachedReader.attach(fork, unread.id())) {
        Expect.equal(new Exit.Exited(0), other.awaitExit(), "the exit in the fork");
        Expect.equal(
            expected.substring((int) other.lost()), other.text(), "the output in the fork");
      }
      reading.toEnd();
      Expect.that(
          reading.pieces().stream().noneMatch(Output.Gap.class::isInstance),
          "the attached reader loses no output of the source");
      Expect.equal(expected, reading.stdout(), "the output in the source");
      Expect.equal(new Exit.Exited(0), unread.await(), "the exit in the source");
    }
  }

  /** Waits until the command prints nothing more, because no buffer has space. */
  private static void awaitBlocked(Sandbox sandbox, ExecutionId id) {
    long[] last = {0, 0};
    Expect.eventually(
        TIMEOUT,
        "the command waits for its reader",
        () -> {
          long end = info(sandbox, id).endOffset();
          last[1] = end == last[0] ? last[1] + 1 : 0;
          last[0] = end;
          return end > 0 && last[1] >= 20;
        });
    Expect.that(info(sandbox, id).running(), "the command waits for its reader");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void standardInputContinues(CheckContext check) throws IOException {
    Command command = Command.shell("while read -r line; do echo got $line; done; exit 5");
    try (AttachedReader source = new AttachedReader(check.sandbox().start(command.withStdin()))) {
      source.type("before\nhal").awaitText("got before\n");
      Sandbox fork = fork(check, check.sandbox());
      try (AttachedReader other = AttachedReader.attach(fork, source.id())) {
        source.type("f a\n").awaitText("got half a\n");
        other.type("f b\n").awaitText("got half b\n");
        other.execution().stdin().close();
        Expect.equal(new Exit.Exited(5), other.awaitExit(), "the exit in the fork");
        Expect.equal("got before\ngot half b\n", other.text(), "the fork's output");
      }
      source.type("c\n").awaitText("got c\n");
      source.execution().stdin().close();
      Expect.equal(new Exit.Exited(5), source.awaitExit(), "the exit in the source");
      Expect.equal("got before\ngot half a\ngot c\n", source.text(), "the source's output");
    }
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void commandsEndOnceInEachSandbox(CheckContext check) {
    Sandbox source = check.sandbox();
    ExecutionId ended;
    try (Execution early = source.start(Command.shell("echo early; exit 3"))) {
      early.await(TIMEOUT);
      ended = early.id();
    }
    Execution waiting =
        source.start(
            Command.shell("until [ -e go ]; do sleep 0.1; done; echo x >> ran; echo late; exit 7"));
    Execution killed = source.start(Command.shell("sleep 1000"));
    Execution limited =
        source.start(Command.shell("sleep 1000").withTimeout(Duration.ofSeconds(15)));
    Sandbox fork = fork(check, source);
    try (AttachedReader again = AttachedReader.attach(fork, killed.id())) {
      again.execution().kill();
      again.awaitExit();
    }
    Expect.that(killed.await(Duration.ofMillis(50)).isEmpty(), "a kill in the fork is its own");
    for (Sandbox one : List.of(fork, source)) {
      output(one, "touch go");
      expectEnd(one, waiting.id(), new Exit.Exited(7), "late\n");
      expectEnd(one, ended, new Exit.Exited(3), "early\n");
      Expect.equal("x\n", output(one, "cat ran"), "what the command wrote in " + one.id());
      try (AttachedReader again = AttachedReader.attach(one, limited.id())) {
        Expect.that(again.awaitExit() instanceof Exit.TimedOut, "a timeout ends it in " + one.id());
      }
      try (Execution fresh = one.start(Command.shell("true"))) {
        Expect.that(
            !Set.of(ended, waiting.id(), killed.id(), limited.id()).contains(fresh.id()),
            "the id of a new command is new: " + fresh.id());
      }
    }
    Expect.equal(
        new Exit.Exited(7), waiting.await(TIMEOUT).orElse(null), "the exit that a client awaited");
    killed.kill();
    List.of(waiting, killed, limited).forEach(Execution::close);
  }

  private static void expectEnd(Sandbox sandbox, ExecutionId id, Exit exit, String text) {
    try (AttachedReader again = AttachedReader.attach(sandbox, id)) {
      Expect.equal(exit, again.awaitExit(), "the exit of " + id + " in " + sandbox.id());
      Expect.equal(text, again.text(), "the output of " + id + " in " + sandbox.id());
    }
  }

  @Check(value = "N4", needs = MemoryForking.class)
  public void forksHaveTheirOwnId(CheckContext check) {
    Sandbox source = check.sandbox();
    String name = output(source, "uname -n").strip();
    Set<String> seen = new HashSet<>(List.of(source.id().value()));
    try (ForkPoint forkPoint = createForkPoint(source)) {
      for (int i = 0; i < 2; i++) {
        Sandbox fork = fork(check, forkPoint);
        String id = fork.id().value();
        Expect.that(seen.add(id), "the id of a fork is new: " + id);
        Expect.equal(id + "\n", output(fork, "echo $ISOLA_SANDBOX"), "the variable in the fork");
        if (name.equals(source.id().value())) { // older runtimes keep the name of the source
          Expect.that(
              List.of(id, name).contains(output(fork, "uname -n").strip()),
              "the host name in the fork is its own or its source's");
        }
        Expect.that(
            check.provider().inventory().stream().anyMatch(one -> one.id().equals(fork.id())),
            "the inventory lists the fork");
      }
    }
    Expect.equal(
        source.id() + "\n", output(source, "echo $ISOLA_SANDBOX"), "the variable in the source");
    Expect.equal(name, output(source, "uname -n").strip(), "the host name in the source");
  }

  @Check(
      value = "N4",
      needs = MemoryForking.class,
      tools = {"head", "od"})
  public void newCommandsGetOtherRandomBytes(CheckContext check) {
    List<Sandbox> all = new ArrayList<>(List.of(check.sandbox()));
    output(check.sandbox(), RANDOM); // the generator is in use before the fork
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      for (int i = 0; i < 3; i++) {
        all.add(fork(check, forkPoint));
      }
    }
    Set<String> seen = new HashSet<>();
    for (Sandbox one : all) {
      for (int i = 0; i < 2; i++) {
        String bytes = output(one, RANDOM).strip();
        Expect.that(bytes.length() >= 32, "16 random bytes, not '" + bytes + "'");
        Expect.that(seen.add(bytes), "the random bytes of " + one.id() + " are its own: " + bytes);
      }
    }
  }

  private static final String RANDOM = "head -c 16 /dev/urandom | od -An -tx1";

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class},
      tools = "python3")
  public void runningProgramsGetOtherRandomBytesAndTheRightTime(CheckContext check) {
    try (CountingProgram source = CountingProgram.start(check.sandbox());
        ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      Expect.letTimePass(Duration.ofSeconds(3)); // a clock that stood still is late
      Set<String> seen = new HashSet<>();
      for (int i = 0; i < 2; i++) {
        Instant began = Instant.now();
        try (CountingProgram fork = CountingProgram.in(fork(check, forkPoint), source.id())) {
          expectAnswer(fork, seen);
          List<Tick> ticks = fork.verify("a fork's");
          ticks.stream()
              .skip(shared(source.ticks(), ticks) + 1)
              .forEach(tick -> expectTime(began, tick.nanos(), "tick " + tick.number()));
        }
        expectAnswer(source, seen);
      }
    }
  }

  private static void expectAnswer(CountingProgram program, Set<String> seen) {
    Instant before = Instant.now();
    Answer answer = program.ask("question" + seen.size());
    Expect.that(seen.add(answer.random()), "random bytes are not repeated: " + answer.random());
    expectTime(before, answer.nanos(), "an answer");
  }

  private static void expectTime(Instant earliest, long nanos, String what) {
    Instant time = Instant.ofEpochSecond(0, nanos);
    Expect.that(
        time.isAfter(earliest.minus(CLOCK_TOLERANCE))
            && time.isBefore(Instant.now().plus(CLOCK_TOLERANCE)),
        "the time of " + what + " is from " + earliest + " to now, not " + time);
  }

  @Check(value = "N4", needs = MemoryForking.class, tools = "date")
  public void newCommandsHaveTheRightTime(CheckContext check) {
    List<Sandbox> all = new ArrayList<>(List.of(check.sandbox()));
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      Expect.letTimePass(Duration.ofSeconds(3));
      all.add(fork(check, forkPoint));
    }
    for (Sandbox one : all) {
      long before = Instant.now().getEpochSecond();
      long time = Long.parseLong(output(one, "date +%s").strip());
      long after = Instant.now().getEpochSecond();
      Expect.that(
          time >= before - 1 && time <= after + 1,
          "the time in " + one.id() + " is " + before + " to " + after + ", not " + time);
    }
  }

  @Check(value = "N4", needs = MemoryForking.class)
  public void filesArePrivateInBothDirections(CheckContext check) {
    Sandbox source = check.sandbox();
    ForkedFiles.create(source);
    // Whether a command may change the owner depends on the provider's default user.
    output(source, "chown 1234:1234 a/run 2> /dev/null; touch -d 2001-02-03 gone; chmod 604 moved");
    // Long enough to notice files that get the time of the fork.
    Expect.letTimePass(Duration.ofSeconds(1));
    Map<String, String> original = all(source);
    Sandbox changed;
    Sandbox untouched;
    try (ForkPoint forkPoint = createForkPoint(source)) {
      output(source, "echo later > later");
      changed = fork(check, forkPoint);
      untouched = fork(check, forkPoint);
    }
    Map<String, String> before = all(changed);
    expectSameFiles(original, before);
    change(changed);
    Expect.equal(before, all(untouched), "the other fork's files");
    Expect.equal("later\n", output(source, "cat later; rm later"), "the source's later file");
    Expect.equal(original.keySet(), all(source).keySet(), "the source's files");
    Expect.equal("one\n", output(source, "cat a/b/file"), "the source's file");
    change(source);
    Expect.equal(before, all(untouched), "the other fork's files after the source's change");
  }

  /** Ignores small differences between times, because a kernel may round those of its host. */
  private static void expectSameFiles(Map<String, String> expected, Map<String, String> actual) {
    Expect.equal(expected.keySet(), actual.keySet(), "the names of the files of a fork");
    for (Map.Entry<String, String> file : expected.entrySet()) {
      String copy = actual.getOrDefault(file.getKey(), "");
      Expect.equal(
          INSTANT.matcher(file.getValue()).replaceAll("TIME"),
          INSTANT.matcher(copy).replaceAll("TIME"),
          "the fork's file " + file.getKey());
      Instant original = time(file.getValue());
      Expect.that(
          time(copy).isAfter(original.minus(TIME_TOLERANCE))
              && time(copy).isBefore(original.plus(TIME_TOLERANCE)),
          "the time of the fork's file " + file.getKey() + " is " + original + ", not " + copy);
    }
  }

  private static final Pattern INSTANT = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");
  private static final Duration TIME_TOLERANCE = Duration.ofMillis(100);

  private static Instant time(String described) {
    Matcher found = INSTANT.matcher(described);
    return found.find() ? Instant.parse(found.group()) : Instant.EPOCH; // links have none
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void openFilesOutsideOfTheWorkspaceContinue(CheckContext check) {
    String script =
        "exec 3>> /tmp/kit-open; while read -r line; do echo $line >&3; echo $line; done";
    try (AttachedReader source =
        new AttachedReader(check.sandbox().start(Command.shell(script).withStdin()))) {
      source.type("first\n").awaitText("first\n");
      Sandbox fork = fork(check, check.sandbox());
      try (AttachedReader other = AttachedReader.attach(fork, source.id())) {
        other.type("fork\n").awaitText("fork\n");
      }
      source.type("source\n").awaitText("source\n");
      Expect.equal("first\nfork\n", output(fork, "cat /tmp/kit-open"), "the fork's file");
      Expect.equal(
          "first\nsource\n", output(check.sandbox(), "cat /tmp/kit-open"), "the source's file");
    }
  }

  @Check(value = "N4", needs = MemoryForking.class)
  public void filesOutsideOfTheWorkspaceArePrivate(CheckContext check) {
    Sandbox source = check.sandbox();
    String show = "cat ~/kit-home /tmp/kit-tmp; stat -c '%u %g %a %Y' ~/kit-home /tmp/kit-tmp";
    output(source, "echo home > ~/kit-home; echo tmp > /tmp/kit-tmp; chmod 640 /tmp/kit-tmp");
    String before = output(source, show);
    Sandbox changed;
    Sandbox untouched;
    try (ForkPoint forkPoint = createForkPoint(source)) {
      changed = fork(check, forkPoint);
      untouched = fork(check, forkPoint);
    }
    Expect.equal(before, output(changed, show), "the files of a fork");
    output(changed, "echo changed > ~/kit-home; echo changed > /tmp/kit-tmp; touch /tmp/kit-new");
    for (Sandbox one : List.of(source, untouched)) {
      Expect.equal(before, output(one, show), "the files after a fork changed its own");
      Expect.equal("", output(one, "ls /tmp/kit-new 2> /dev/null || true"), "a fork's new file");
    }
    output(source, "rm ~/kit-home /tmp/kit-tmp");
    Expect.equal(before, output(untouched, show), "the files after the source removed its own");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Watching.class})
  public void fileOperationsWorkInForks(CheckContext check) {
    ForkedFiles.create(check.sandbox());
    try (Watch kept = check.as(Watching.class).watch("a", true)) {
      Sandbox fork = fork(check, check.sandbox());
      byte[] content = FileContents.random(3_000_000, 7);
      fork.files().write("a/large", FileContents.of(content), WriteOptions.DEFAULT);
      Expect.equal(content, FileContents.bytes(fork.files(), "a/large"), "an uploaded file");
      Expect.that(
          FileContents.names(fork.files(), "a").contains("large"), "the list has the new file");
      try (Watch watch = fork.as(Watching.class).orElseThrow().watch("a", true)) {
        output(fork, "echo more >> a/b/file");
        expectChange(watch, "file");
      }
      Expect.that(!check.sandbox().files().exists("a/large"), "the source has no such file");
      // The agent has hung up: the watch continues with its next use, which may report a gap.
      Optional<FileChange> _ = kept.next(Duration.ofMillis(500));
      output(check.sandbox(), "echo more > a/later");
      expectChange(kept, "later");
    }
  }

  private static void expectChange(Watch watch, String name) {
    List<String> seen = new ArrayList<>();
    Expect.eventually(
        TIMEOUT,
        "a change of '" + name + "' is reported",
        () -> {
          Expect.that(!watch.ended(), "the watch does not end before it reports '" + name + "'");
          watch.next(Duration.ofMillis(100)).ifPresent(event -> seen.add(event.toString()));
          return seen.stream().anyMatch(event -> event.contains(name));
        });
    Expect.that(
        seen.stream().noneMatch(event -> event.contains("large")), "only its own changes: " + seen);
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class, PortDialing.class},
      tools = "python3")
  public void listeningPortsContinueInForks(CheckContext check) throws IOException {
    String server =
        """
        import socket, sys, threading
        listener = socket.create_server(("127.0.0.1", 0))
        value = "first"
        def serve():
            while True:
                connection = listener.accept()[0]
                connection.sendall(value.encode())
                connection.close()
        threading.Thread(target=serve, daemon=True).start()
        print("port", listener.getsockname()[1], "", flush=True)
        for line in sys.stdin:
            value = line.strip()
            print("now", value, flush=True)
        """;
    Command command = Command.argv("python3", "-c", server).withStdin();
    try (AttachedReader source = new AttachedReader(check.sandbox().start(command))) {
      source.awaitText(" \n");
      int port = Integer.parseInt(source.text().split(" ")[1]);
      Sandbox fork = fork(check, check.sandbox());
      Expect.equal("first", received(fork, port), "the answer of the port in the fork");
      try (AttachedReader other = AttachedReader.attach(fork, source.id())) {
        other.type("second\n").awaitText("now second\n");
      }
      Expect.equal("second", received(fork, port), "the changed answer in the fork");
      Expect.equal("first", received(check.sandbox(), port), "the answer in the source");
    }
  }

  private static String received(Sandbox sandbox, int port) throws IOException {
    try (PortDialing.Connection connection =
        sandbox.as(PortDialing.class).orElseThrow().dial(port)) {
      ByteBuffer buffer = ByteBuffer.allocate(100);
      int count = connection.read(buffer);
      while (count >= 0 && buffer.hasRemaining()) {
        count = connection.read(buffer);
      }
      return new String(Arrays.copyOf(buffer.array(), buffer.position()), US_ASCII);
    }
  }
}
