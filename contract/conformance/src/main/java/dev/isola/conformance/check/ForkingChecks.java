package dev.isola.conformance.check;

import static dev.isola.conformance.check.ForkedFiles.all;
import static dev.isola.conformance.check.ForkedFiles.change;
import static dev.isola.conformance.check.ForkedFiles.output;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks that forks start with the files of their source and are independent of it. */
public final class ForkingChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private static ForkPoint createForkPoint(Sandbox sandbox) {
    return sandbox.as(Forking.class).orElseThrow().createForkPoint();
  }

  private static Sandbox fork(CheckContext check, ForkPoint forkPoint) {
    return forkPoint.create(check.spec().build());
  }

  private static Sandbox fork(CheckContext check, Sandbox source) {
    try (ForkPoint forkPoint = createForkPoint(source)) {
      return fork(check, forkPoint);
    }
  }

  @Check(value = "N4", needs = Forking.class)
  public void forksStartWithTheFilesOfTheForkPoint(CheckContext check) {
    Map<String, String> before = ForkedFiles.create(check.sandbox());
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      output(check.sandbox(), "echo later > later; rm gone; echo changed > a/b/file");
      Sandbox one = fork(check, forkPoint);
      Sandbox two = fork(check, forkPoint);
      Expect.equal(before, all(one), "the files of the first fork");
      Expect.equal(before, all(two), "the files of the second");
      Expect.equal(
          "later\nchanged\n", output(check.sandbox(), "cat later a/b/file"), "the source's");
    }
  }

  @Check(value = "N4", needs = Forking.class)
  public void laterWritesAreNotShared(CheckContext check) {
    Map<String, String> before = ForkedFiles.create(check.sandbox());
    Sandbox untouched;
    Sandbox changed;
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      untouched = fork(check, forkPoint);
      changed = fork(check, forkPoint);
    }
    change(changed);
    Expect.equal(before, all(untouched), "the other fork's files");
    Expect.equal(before, all(check.sandbox()), "the source's files");
    Expect.equal("one\nmore\nnew\n", output(changed, "cat a/b/file a/new"), "its own");
    change(check.sandbox());
    Expect.equal(before, all(untouched), "the other fork's files after the source's turn");
    Expect.equal(
        FileContents.names(changed.files(), "."),
        FileContents.names(check.sandbox().files(), "."),
        "the same change has the same end");
  }

  @Check(value = "N4", needs = Forking.class)
  public void forksOutliveTheSourceAndOneAnother(CheckContext check) {
    Map<String, String> before = ForkedFiles.create(check.sandbox());
    Sandbox one;
    Sandbox two;
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      one = fork(check, forkPoint);
      check.provider().destroy(check.sandbox().id(), DestroyOptions.FORCE);
      two = fork(check, forkPoint);
    }
    Expect.equal(before, all(two), "the files of a fork whose source was gone");
    check.provider().destroy(one.id(), DestroyOptions.FORCE);
    Expect.equal(before, all(two), "its files when the other fork is gone");
    output(two, "echo own > own");
    Sandbox three = fork(check, two);
    check.provider().destroy(two.id(), DestroyOptions.FORCE);
    Expect.equal("own\none\n", output(three, "cat own a/b/file"), "the files of a fork's fork");
  }

  @Check(value = "N4", needs = Forking.class)
  public void sourceOutlivesItsForks(CheckContext check) {
    output(check.sandbox(), "echo 0 > count");
    for (int i = 1; i <= 12; i++) { // deeper than any realistic chain of forks
      Sandbox fork;
      try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
        fork = fork(check, forkPoint);
      } catch (Conflict tooDeep) {
        Expect.that(i > 4, "a fork of a fork of a fork is made without a copy");
        break;
      }
      Expect.equal(i - 1 + "\n", output(fork, "cat count"), "what fork " + i + " has");
      check.provider().destroy(fork.id(), DestroyOptions.FORCE);
      output(check.sandbox(), "echo " + i + " > count; echo x > file" + i);
      Expect.equal(i + "\n", output(check.sandbox(), "cat count"), "what the source has");
    }
  }

  @Check(value = "N4", needs = Forking.class)
  public void commandsOutsideTheWorkspaceDoNotPreventAFork(CheckContext check) {
    output(check.sandbox(), "echo here > file");
    try (Execution running =
        check.sandbox().start(Command.shell("cd / && echo left; exec sleep 60"))) {
      ExecutionReader.of(running).until("left\n");
      Expect.equal("here\n", output(fork(check, check.sandbox()), "cat file"), "what the fork has");
      Expect.that(running.await(Duration.ofMillis(1)).isEmpty(), "the command still runs");
      running.kill();
    }
  }

  /** Whether the fork is rejected or not, processes with open files and the sandbox continue. */
  @Check(value = "N4", needs = Forking.class)
  public void processesInTheWorkspaceAreNotDisturbed(CheckContext check) {
    for (String use :
        List.of(
            "while echo x >> log; do sleep 0.05; done", // a folder to work in
            "exec 3>>log; cd /; while echo x >&3; do sleep 0.05; done")) { // a file to write
      Execution running = check.sandbox().start(Command.shell(use));
      awaitGrowth(check);
      try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
        String initial = output(fork(check, forkPoint), "wc -c < log");
        awaitGrowth(check);
        Expect.equal(
            initial, output(fork(check, forkPoint), "wc -c < log"), "what a later fork has");
      } catch (Conflict used) {
        awaitGrowth(check);
      }
      running.kill();
      running.await(TIMEOUT);
      output(check.sandbox(), "rm log; echo good > written");
      Expect.equal(
          "good\n", output(fork(check, check.sandbox()), "cat written"), "a fork afterwards");
    }
  }

  private static void awaitGrowth(CheckContext check) {
    FileSystem files = check.sandbox().files();
    Expect.eventually(TIMEOUT, "the command begins", () -> files.exists("log"));
    long now = files.stat("log", NOFOLLOW_LINKS).size();
    Expect.eventually(
        TIMEOUT, "the command keeps running", () -> files.stat("log", NOFOLLOW_LINKS).size() > now);
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Pausing.class})
  public void filesAreKeptWhenItIsStoppedAndBootedAgain(CheckContext check) {
    ForkedFiles.create(check.sandbox());
    Sandbox fork = fork(check, check.sandbox());
    for (Sandbox one : List.of(check.sandbox(), fork)) {
      Pausing pausing = one.as(Pausing.class).orElseThrow();
      if (!pausing.kinds().contains(PauseKind.FILESYSTEM)) {
        throw check.notRun("it cannot be paused to the file system");
      }
      output(one, "echo " + one.id() + " > name; rm gone");
      Map<String, String> before = all(one);
      pausing.pause(PauseKind.FILESYSTEM);
      pausing.resume();
      Expect.equal(before, all(one), "the files after it was booted again");
    }
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Snapshotting.class})
  public void capturesContainAllFilesOfAFork(CheckContext check) {
    ForkedFiles.create(check.sandbox());
    Sandbox fork = fork(check, check.sandbox());
    output(fork, "rm gone; echo new > new");
    for (Sandbox one : List.of(fork, check.sandbox())) {
      Sandbox copy = check.create(spec -> spec);
      try (Capture capture =
          one.as(Snapshotting.class).orElseThrow().capture(CaptureRequest.of("."))) {
        copy.as(Snapshotting.class)
            .orElseThrow()
            .restore(".", capture.archive(), TreeLimits.DEFAULT);
      }
      Expect.equal(all(one).keySet(), all(copy).keySet(), "what was taken");
    }
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Watching.class})
  public void watchesReportChangesInForks(CheckContext check) {
    ForkedFiles.create(check.sandbox());
    Sandbox fork = fork(check, check.sandbox());
    for (Sandbox one : List.of(fork, check.sandbox())) {
      List<String> seen = new ArrayList<>();
      try (Watch watch = one.as(Watching.class).orElseThrow().watch("a", true)) {
        output(one, "echo more >> a/b/file");
        Expect.eventually(
            TIMEOUT,
            "the change is reported",
            () -> {
              watch.next(Duration.ofMillis(100)).ifPresent(event -> seen.add(event.toString()));
              return seen.stream().anyMatch(event -> event.contains("file"));
            });
      }
    }
  }

  @Check(
      value = "N4",
      needs = {Forking.class, UsageReporting.class})
  public void filesOfAForkCountAsItsDiskUsage(CheckContext check) {
    check.sandbox().files().writeText("shared", "x", UTF_8);
    Sandbox fork = fork(check, check.sandbox());
    UsageReporting usage = fork.as(UsageReporting.class).orElseThrow();
    long before = usage.usage().diskBytes().orElse(0);
    fork.files()
        .write("large", FileContents.of(FileContents.random(3_000_000, 4)), WriteOptions.DEFAULT);
    long written = usage.usage().diskBytes().orElse(before + 3_000_000) - before;
    Expect.that(written >= 3_000_000, "3 MB that a fork writes are counted, not " + written);
    Expect.equal("", output(fork, "rm large"), "removing it");
    long left = usage.usage().diskBytes().orElse(before) - before;
    Expect.that(left < 1_000_000, "what was removed does not count, not " + left);
  }
}
