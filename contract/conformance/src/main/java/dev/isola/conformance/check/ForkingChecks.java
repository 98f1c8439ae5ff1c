package dev.isola.conformance.check;

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
import dev.isola.spi.exec.ExecResult;
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
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static ForkPoint freeze(Sandbox sandbox) {
    return sandbox.as(Forking.class).orElseThrow().createForkPoint();
  }

  private static Sandbox fork(CheckContext s, ForkPoint origin) {
    return origin.create(s.spec().build());
  }

  private static Sandbox fork(CheckContext s, Sandbox source) {
    try (ForkPoint origin = freeze(source)) {
      return fork(s, origin);
    }
  }

  private static String said(Sandbox sandbox, String shell) {
    ExecResult result = sandbox.run(Command.shell(shell));
    Expect.that(
        result.succeeded(),
        "'" + shell + "' succeeds, but " + result.exit() + " " + result.stderr().text());
    return result.stdout().text();
  }

  private static Map<String, String> all(Sandbox sandbox) {
    return FileContents.described(sandbox.files(), ".");
  }

  private static Map<String, String> furnish(Sandbox sandbox) {
    FileSystem files = sandbox.files();
    files.writeText("a/b/file", "one\n", UTF_8);
    files.writeText("gone", "two\n", UTF_8);
    files.writeText("moved", "three\n", UTF_8);
    files.write("a/run", FileContents.of("#!/bin/sh\n"), WriteOptions.DEFAULT.withMode(0750));
    files.makeFolder("a/empty", 0700);
    files.makeLink("link", "a/b/file");
    return all(sandbox);
  }

  /** Changes existing files in every possible way. */
  private static void change(Sandbox sandbox) {
    FileSystem files = sandbox.files();
    said(sandbox, "echo more >> a/b/file; rm gone; echo new > a/new");
    files.move("moved", "there", false);
    files.changeMode("a/run", 0600);
    files.remove("a/empty", true);
    files.remove("link", false);
    files.writeText("link", "a link no more", UTF_8);
    files.writeText("gone/now/a/folder", "x", UTF_8);
  }

  @Check(value = "N4", needs = Forking.class)
  public void forksBeginWithTheFilesOfTheMoment(CheckContext s) {
    Map<String, String> before = furnish(s.sandbox());
    try (ForkPoint origin = freeze(s.sandbox())) {
      said(s.sandbox(), "echo later > later; rm gone; echo changed > a/b/file");
      Sandbox one = fork(s, origin);
      Sandbox two = fork(s, origin);
      Expect.equal(before, all(one), "the files of the first fork");
      Expect.equal(before, all(two), "the files of the second");
      Expect.equal("later\nchanged\n", said(s.sandbox(), "cat later a/b/file"), "the source's");
    }
  }

  @Check(value = "N4", needs = Forking.class)
  public void nobodySeesWhatOthersWriteLater(CheckContext s) {
    Map<String, String> before = furnish(s.sandbox());
    Sandbox untouched;
    Sandbox changed;
    try (ForkPoint origin = freeze(s.sandbox())) {
      untouched = fork(s, origin);
      changed = fork(s, origin);
    }
    change(changed);
    Expect.equal(before, all(untouched), "the other fork's files");
    Expect.equal(before, all(s.sandbox()), "the source's files");
    Expect.equal("one\nmore\nnew\n", said(changed, "cat a/b/file a/new"), "its own");
    change(s.sandbox());
    Expect.equal(before, all(untouched), "the other fork's files after the source's turn");
    Expect.equal(
        FileContents.names(changed.files(), "."),
        FileContents.names(s.sandbox().files(), "."),
        "the same change has the same end");
  }

  @Check(value = "N4", needs = Forking.class)
  public void forksOutliveTheSourceAndOneAnother(CheckContext s) {
    Map<String, String> before = furnish(s.sandbox());
    Sandbox one;
    Sandbox two;
    try (ForkPoint origin = freeze(s.sandbox())) {
      one = fork(s, origin);
      s.provider().destroy(s.sandbox().id(), DestroyOptions.FORCE);
      two = fork(s, origin);
    }
    Expect.equal(before, all(two), "the files of a fork whose source was gone");
    s.provider().destroy(one.id(), DestroyOptions.FORCE);
    Expect.equal(before, all(two), "its files when the other fork is gone");
    said(two, "echo own > own");
    Sandbox three = fork(s, two);
    s.provider().destroy(two.id(), DestroyOptions.FORCE);
    Expect.equal("own\none\n", said(three, "cat own a/b/file"), "the files of a fork's fork");
  }

  @Check(value = "N4", needs = Forking.class)
  public void sourceOutlivesItsForks(CheckContext s) {
    said(s.sandbox(), "echo 0 > count");
    for (int i = 1; i <= 12; i++) { // deeper than any realistic chain of forks
      Sandbox fork;
      try (ForkPoint origin = freeze(s.sandbox())) {
        fork = fork(s, origin);
      } catch (Conflict tooDeep) {
        Expect.that(i > 4, "a fork of a fork of a fork is made without a copy");
        break;
      }
      Expect.equal(i - 1 + "\n", said(fork, "cat count"), "what fork " + i + " has");
      s.provider().destroy(fork.id(), DestroyOptions.FORCE);
      said(s.sandbox(), "echo " + i + " > count; echo x > file" + i);
      Expect.equal(i + "\n", said(s.sandbox(), "cat count"), "what the source has");
    }
  }

  @Check(value = "N4", needs = Forking.class)
  public void commandsElsewhereDoNotMatter(CheckContext s) {
    said(s.sandbox(), "echo here > file");
    try (Execution running = s.sandbox().start(Command.shell("cd / && echo left; exec sleep 60"))) {
      ExecutionReader.of(running).until("left\n");
      Expect.equal("here\n", said(fork(s, s.sandbox()), "cat file"), "what the fork has");
      Expect.that(running.await(Duration.ofMillis(1)).isEmpty(), "the command still runs");
      running.kill();
    }
  }

  /** Whether the fork is rejected or not, processes with open files and the sandbox continue. */
  @Check(value = "N4", needs = Forking.class)
  public void whatUsesTheWorkspaceIsNotDisturbed(CheckContext s) {
    for (String use :
        List.of(
            "while echo x >> log; do sleep 0.05; done", // a folder to work in
            "exec 3>>log; cd /; while echo x >&3; do sleep 0.05; done")) { // a file to write
      Execution running = s.sandbox().start(Command.shell(use));
      awaitGrowth(s);
      try (ForkPoint origin = freeze(s.sandbox())) {
        String begun = said(fork(s, origin), "wc -c < log");
        awaitGrowth(s);
        Expect.equal(begun, said(fork(s, origin), "wc -c < log"), "what a later fork has");
      } catch (Conflict used) {
        awaitGrowth(s);
      }
      running.kill();
      running.await(PATIENCE);
      said(s.sandbox(), "rm log; echo good > written");
      Expect.equal("good\n", said(fork(s, s.sandbox()), "cat written"), "a fork afterwards");
    }
  }

  private static void awaitGrowth(CheckContext s) {
    FileSystem files = s.sandbox().files();
    Expect.eventually(PATIENCE, "the command begins", () -> files.exists("log"));
    long now = files.stat("log", NOFOLLOW_LINKS).size();
    Expect.eventually(
        PATIENCE, "the command goes on", () -> files.stat("log", NOFOLLOW_LINKS).size() > now);
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Pausing.class})
  public void filesAreKeptWhenItIsStoppedAndBootedAgain(CheckContext s) {
    furnish(s.sandbox());
    Sandbox fork = fork(s, s.sandbox());
    for (Sandbox one : List.of(s.sandbox(), fork)) {
      Pausing pausing = one.as(Pausing.class).orElseThrow();
      if (!pausing.kinds().contains(PauseKind.FILESYSTEM)) {
        throw s.notRun("it cannot be paused to the file system");
      }
      said(one, "echo " + one.id() + " > name; rm gone");
      Map<String, String> before = all(one);
      pausing.pause(PauseKind.FILESYSTEM);
      pausing.resume();
      Expect.equal(before, all(one), "the files after it was booted again");
    }
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Snapshotting.class})
  public void picturesShowAllOfAForksFiles(CheckContext s) {
    furnish(s.sandbox());
    Sandbox fork = fork(s, s.sandbox());
    said(fork, "rm gone; echo new > new");
    for (Sandbox one : List.of(fork, s.sandbox())) {
      Sandbox copy = s.create(spec -> spec);
      try (Capture picture =
          one.as(Snapshotting.class).orElseThrow().capture(CaptureRequest.of("."))) {
        copy.as(Snapshotting.class)
            .orElseThrow()
            .restore(".", picture.archive(), TreeLimits.DEFAULT);
      }
      Expect.equal(all(one).keySet(), all(copy).keySet(), "what was taken");
    }
  }

  @Check(
      value = "N4",
      needs = {Forking.class, Watching.class})
  public void changesInForksAreSeen(CheckContext s) {
    furnish(s.sandbox());
    Sandbox fork = fork(s, s.sandbox());
    for (Sandbox one : List.of(fork, s.sandbox())) {
      List<String> seen = new ArrayList<>();
      try (Watch watch = one.as(Watching.class).orElseThrow().watch("a", true)) {
        said(one, "echo more >> a/b/file");
        Expect.eventually(
            PATIENCE,
            "the change is told",
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
  public void aForksOwnFilesCount(CheckContext s) {
    s.sandbox().files().writeText("shared", "x", UTF_8);
    Sandbox fork = fork(s, s.sandbox());
    UsageReporting usage = fork.as(UsageReporting.class).orElseThrow();
    long before = usage.usage().diskBytes().orElse(0);
    fork.files()
        .write("large", FileContents.of(FileContents.random(3_000_000, 4)), WriteOptions.DEFAULT);
    long written = usage.usage().diskBytes().orElse(before + 3_000_000) - before;
    Expect.that(written >= 3_000_000, "3 MB that a fork writes are counted, not " + written);
    Expect.equal("", said(fork, "rm large"), "removing it");
    long left = usage.usage().diskBytes().orElse(before) - before;
    Expect.that(left < 1_000_000, "what was removed does not count, not " + left);
  }
}
