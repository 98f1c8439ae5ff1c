package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.exec.CapturedOutput;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Reproduces past bugs, of Isola and of similar systems, against every provider. */
public final class RegressionsChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration DEADLINE = Duration.ofMinutes(5);

  /** Much less than the sparse file. */
  private static final int MAX_SPARSE_ARCHIVE = 16 << 20;

  /** Variables that any sandbox sets itself. */
  private static final Set<String> COMMON =
      Set.of(
          "PATH",
          "HOME",
          "LANG",
          "LC_ALL",
          "TERM",
          "PWD",
          "OLDPWD",
          "SHLVL",
          "_",
          "USER",
          "LOGNAME",
          "SHELL",
          "TZ",
          "HOSTNAME",
          "TMPDIR");

  /** {@code sh -c -n} parsed the script as an option and ran nothing. */
  @Check("X2")
  public void scriptThatStartsLikeAnOptionIsRun(CheckContext check) {
    for (String text : List.of("-n; echo ran", "+e; echo ran", "--; echo ran", "-c; echo ran")) {
      Expect.equal("ran\n", check.run(text).stdout().text(), "the output of '" + text + "'");
    }
  }

  /**
   * Links led clients to {@code /proc} that may not read it. The server decides on the path that
   * stat gives.
   */
  @Check("F1")
  public void pathThatStatGivesIsTheFinalTarget(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("real", 0755);
    files.writeText("real/file", "x", UTF_8);
    files.makeLink("alias", "real");
    files.makeLink("again", "alias/../alias/file");
    String real = files.stat("real/file").path();
    for (String path : List.of("alias/file", "again", "real/../alias/./file")) {
      Expect.equal(real, files.stat(path).path(), "the path that stat gives for " + path);
    }
  }

  /** Output after a gap was returned as the head of the output. */
  @Check(value = "X8", needs = Attaching.class)
  public void outputAfterAGapIsNotTakenForTheHead(CheckContext check) {
    int flood = 40_000_000;
    Command command = Command.shell("printf first; head -c " + flood + " /dev/zero; printf last");
    Execution started = check.sandbox().start(command);
    started.close();
    Attaching attaching = check.as(Attaching.class);
    Expect.eventually(
        TIMEOUT,
        "a command without a reader runs to its end",
        () ->
            attaching.executions().stream()
                .anyMatch(info -> info.id().equals(started.id()) && !info.running()));
    boolean gap = false;
    long at = 0;
    try (Execution again = attaching.attach(started.id(), 0)) {
      for (var piece = again.read(); piece.isPresent(); piece = again.read()) {
        Expect.equal(at, piece.get().offset(), "where the next piece starts");
        at = piece.get().end();
        gap |= piece.get() instanceof Output.Gap;
      }
    }
    Expect.equal(flood + 9L, at, "where the output ends");
    if (!gap) {
      throw check.notRun("the provider keeps 40 MB of output, so there is no gap");
    }
    CapturedOutput kept =
        ExecResult.collect(attaching.attach(started.id(), 0), command, new OutputLimit(1000, 1000))
            .stdout();
    Expect.equal(flood + 9L, kept.total(), "the bytes that were written");
    Expect.that(
        kept.head().size() == 0 || kept.head().utf8().startsWith("first"),
        "the head is the beginning of the output or nothing");
    Expect.that(kept.tail().utf8().endsWith("\0last"), "the tail is the end of the output");
  }

  /** The remaining output was dropped if the command ended before a slow reader caught up. */
  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void aSlowReaderGetsTheWholeFlood(CheckContext check) {
    long expected = 20_000_004;
    for (String script :
        List.of(
            "head -c 20000000 /dev/zero; echo end",
            "(head -c 20000000 /dev/zero; echo end) & sleep 0.2; exit 0")) {
      long total = 0;
      byte[] last = {};
      try (Execution execution = check.sandbox().start(Command.shell(script))) {
        // The reader is slow: it begins when the command has ended or is blocked. await() would
        // discard the output.
        Expect.letTimePass(Duration.ofMillis(300));
        for (var piece = execution.read(); piece.isPresent(); piece = execution.read()) {
          if (!(piece.get() instanceof Output.Data data)) {
            throw new CheckFailed("output was lost: " + piece.get());
          }
          total += data.bytes().size();
          last = data.bytes().toArray();
        }
        Expect.equal(new Exit.Exited(0), execution.await(), "the exit of " + script);
      }
      Expect.equal(expected, total, "the bytes that were read of " + script);
      Expect.that(new String(last, UTF_8).endsWith("end\n"), "the end came last");
    }
  }

  /** A timeout was reported while processes of the tree were still dying. */
  @Check(value = "X4", tools = "kill")
  public void timeoutIsReportedAfterTheWholeTreeIsDead(CheckContext check) {
    String script = "sleep 1000 & echo $!; ".repeat(5) + "sleep 1000";
    ExecResult result = check.run(Command.shell(script).withTimeout(Duration.ofMillis(500)));
    Expect.that(result.timedOut(), "the command runs into its timeout: " + result.exit());
    List<String> pids = result.stdout().text().lines().toList();
    Expect.equal(5, pids.size(), "the processes that were started");
    for (String pid : pids) {
      Expect.that(!check.run("kill -0 " + pid).succeeded(), "process " + pid + " is dead at once");
    }
  }

  /** A background process was killed by its first write after the command had ended. */
  @Check(value = "X8", tools = "while", basics = BasicFeature.BACKGROUND_PROCESSES)
  public void backgroundProcessCanKeepWriting(CheckContext check) {
    String writer =
        "(i=0; while test $i -lt 400; do i=$((i+1)); echo tick; echo tock >&2;"
            + " echo $i > ticks; sleep 0.05; done) & echo left";
    ExecResult result = check.run(writer);
    Expect.equal(new Exit.Exited(0), result.exit(), "the exit");
    Expect.contains(result.stdout().text(), "left", "the output");
    int then = ticks(check);
    Expect.eventually(
        TIMEOUT, "the background writer continues after " + then, () -> ticks(check) > then + 12);
  }

  private static int ticks(CheckContext check) {
    FileSystem files = check.sandbox().files();
    String text = files.exists("ticks") ? FileContents.text(files, "ticks").strip() : "";
    return text.isEmpty() ? 0 : Integer.parseInt(text);
  }

  /** A call waited for a grandchild that kept the pipe open. */
  @Check("X8")
  public void openPipeDoesNotDelayTheCall(CheckContext check) throws InterruptedException {
    ExecResult result =
        ConcurrentCalls.start(() -> check.run("sleep 1000 & echo done; exit 5"))
            .get(TIMEOUT, "the call returns before the grandchild ends");
    Expect.equal(new Exit.Exited(5), result.exit(), "the exit");
    Expect.equal("done\n", result.stdout().text(), "the output");
  }

  /** An empty file had no frame that ended it. */
  @Check("F1")
  public void anEmptyFileIsWrittenAndRead(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (WriteOptions how :
        List.of(
            WriteOptions.DEFAULT,
            WriteOptions.DEFAULT.inPlace(),
            WriteOptions.DEFAULT.appending().withMode(0600))) {
      FileInfo info = files.write("empty", FileContents.of(""), how);
      Expect.equal(0L, info.size(), "the size");
      Expect.equal(-1, firstByte(files), "what is read first of an empty file written with " + how);
      Expect.equal("", FileContents.range(files, "empty", 0, 10), "a range of it");
    }
    Expect.equal(
        "0\n", check.output("cat empty | wc -c").replace(" ", ""), "its size for a command");
  }

  private static int firstByte(FileSystem files) {
    try (var in = files.read("empty", ReadRange.ALL)) {
      return in.read();
    } catch (java.io.IOException e) {
      throw new CheckFailed("an empty file cannot be read: " + e.getMessage());
    }
  }

  /** A write returned before the file was closed, so that executing it failed with ETXTBSY. */
  @Check("F1")
  public void aProgramJustWrittenCanBeRun(CheckContext check) {
    FileSystem files = check.sandbox().files();
    WriteOptions program = WriteOptions.DEFAULT.withMode(0755);
    for (int i = 0; i < 200; i++) {
      files.write(
          "program",
          FileContents.of("#!/bin/sh\necho " + i),
          i % 2 == 0 ? program : program.inPlace());
      ExecResult result = check.run(Command.argv("./program"));
      Expect.equal(i + "\n", result.stdout().text(), "the output of what was just written");
    }
  }

  /** A shared buffer mixed the output of concurrent commands. */
  @Check("X5")
  public void outputsOfTwoCommandsDoNotMix(CheckContext check) throws InterruptedException {
    FileSystem files = check.sandbox().files();
    List<FutureTask<byte[]>> tasks = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      String name = "file-" + i;
      byte[] content = new byte[400_000];
      Arrays.fill(content, (byte) ('a' + i));
      files.write(name, FileContents.of(content), WriteOptions.DEFAULT);
      tasks.add(new FutureTask<>(() -> stdout(check, "cat " + name)));
    }
    tasks.forEach(Thread::startVirtualThread);
    for (int i = 0; i < tasks.size(); i++) {
      byte[] expected = new byte[400_000];
      Arrays.fill(expected, (byte) ('a' + i));
      try {
        Expect.equal(expected, tasks.get(i).get(), "the output of command " + i);
      } catch (ExecutionException e) {
        throw new CheckFailed("command " + i + " failed: " + e.getCause());
      }
    }
  }

  private static byte[] stdout(CheckContext check, String shell) {
    ExecResult result = check.sandbox().run(Command.shell(shell));
    Expect.equal("", result.stderr().text(), "the errors of " + shell);
    Expect.that(!result.stdout().truncated(), "the output fits");
    return result.stdout().text().getBytes(UTF_8);
  }

  /**
   * In similar systems, sandboxes inherited the environment of the server, including its API keys.
   */
  @Check(value = "S1", tools = "env")
  public void environmentOfTheServerIsNotInherited(CheckContext check) {
    List<String> seen = check.output("env").lines().toList();
    for (Map.Entry<String, String> own : System.getenv().entrySet()) {
      if (!COMMON.contains(own.getKey()) && !own.getValue().isEmpty()) {
        Expect.that(
            !seen.contains(own.getKey() + "=" + own.getValue()),
            "the server's variable " + own.getKey() + " is not in the sandbox");
      }
    }
  }

  /** Orphaned processes accumulated as zombies until no process could be started. */
  @Check(value = "X8", needs = UsageReporting.class)
  public void orphansAreReaped(CheckContext check) {
    UsageReporting usage = check.as(UsageReporting.class);
    check.output("true");
    int before = usage.usage().processes();
    check.output("(true & true & true & true &); ".repeat(25) + "true");
    Expect.eventually(
        TIMEOUT,
        "100 orphans are reaped and no more than " + before + " processes are left",
        () -> usage.usage().processes() <= before);
  }

  /** A reader that detached early closed the connection of all other readers. */
  @Check("F2")
  public void detachingEarlyDoesNotAffectOtherReaders(CheckContext check) {
    FileSystem files = check.sandbox().files();
    Execution flood = check.sandbox().start(Command.shell("head -c 1000000000 /dev/zero"));
    Optional<Output> first = flood.read();
    Expect.that(first.isPresent(), "the flood begins");
    files.writeText("file", "written beside the flood", UTF_8);
    Expect.equal("beside\n", check.output("echo beside"), "a command beside it");
    flood.kill();
    flood.close();
    Expect.equal("written beside the flood", FileContents.text(files, "file"), "the file");
    Expect.equal("after\n", check.output("echo after"), "a command after it");
  }

  /** Destroying a sandbox ended the processes of another one, whose id begins with its id. */
  @Check("P4")
  public void sandboxWhoseIdBeginsLikeAnotherOutlivesIt(CheckContext check) {
    SandboxId shorter = check.sandbox().id();
    SandboxId longer = new SandboxId(shorter + "x");
    try {
      Sandbox other =
          check.provider().create(SandboxSpec.builder(longer).deadline(DEADLINE).build());
      check.provider().destroy(shorter, DestroyOptions.FORCE);
      Expect.equal("on\n", other.run(Command.shell("echo on")).stdout().text(), "the other one");
    } finally {
      check.provider().destroy(longer, DestroyOptions.FORCE);
    }
  }

  /** A sparse file was captured with all of its zeros, and held up all other snapshots. */
  @Check(value = "N1", needs = Snapshotting.class, tools = "truncate")
  public void sparseFileIsCapturedWithoutItsHoles(CheckContext check) {
    long size = 1L << 29;
    check.output("mkdir sparse && cd sparse && printf begin > file");
    if (!check
        .run("cd sparse && truncate -s " + size + " file && printf end >> file")
        .succeeded()) {
      throw check.notRun("the sandbox may not have a file of " + size + " bytes");
    }
    Snapshotting snapshotting = check.as(Snapshotting.class);
    byte[] archive;
    try (Capture capture = snapshotting.capture(CaptureRequest.of("sparse").withoutHoles())) {
      archive = capture.archive().readNBytes(MAX_SPARSE_ARCHIVE);
    } catch (IOException e) {
      throw new CheckFailed("the archive cannot be read: " + e.getMessage());
    }
    if (archive.length == MAX_SPARSE_ARCHIVE) {
      // The agent is not to blame where its kernel does not tell it.
      Expect.that(
          check.info().isolation() != Isolation.CONTAINER
              && check.info().isolation() != Isolation.PROCESS,
          "the host's kernel reports holes, so the archive has less than "
              + MAX_SPARSE_ARCHIVE
              + " bytes");
      throw check.notRun("the kernel inside does not report holes");
    }
    snapshotting.restore("copy", FileContents.of(archive), TreeLimits.DEFAULT);
    Expect.equal(
        "begin " + (size + 3) + " end",
        check.output(
            "cd copy && printf '%s %s %s' $(head -c 5 file) $(wc -c < file) $(tail -c 3 file)"),
        "the begin, size and end of the restored file");
  }
}
