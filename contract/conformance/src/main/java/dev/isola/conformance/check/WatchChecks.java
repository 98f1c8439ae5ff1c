package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.codec.time.Deadline;
import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.FileChange.Kind;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Checks file watching. */
public final class WatchChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);

  private static Watch watch(CheckContext check, boolean recursive) {
    check.sandbox().files().makeFolder("watched", 0755);
    return check.as(Watching.class).watch("watched", recursive);
  }

  /** Reads changes up to one that matches, and returns all of them. */
  private static List<FileChange> until(Watch watch, String what, Predicate<FileChange> matching) {
    List<FileChange> seen = new ArrayList<>();
    Deadline deadline = Deadline.in(TIMEOUT);
    while (!deadline.over() && !watch.ended()) {
      Optional<FileChange> next = watch.next(Duration.ofMillis(500));
      if (next.isPresent()) {
        seen.add(next.get());
        if (matching.test(next.get())) {
          return seen;
        }
      }
    }
    throw new CheckFailed("the watch did not tell of " + what + ", only of " + seen);
  }

  private static FileChange await(Watch watch, Kind kind, String name) {
    return until(watch, kind + " of " + name, change -> is(change, kind, name)).getLast();
  }

  private static boolean is(FileChange change, Kind kind, String name) {
    return change.kind() == kind && FileContents.below("watched", change.path()).equals(name);
  }

  @Check(value = "F5", needs = Watching.class)
  public void creationModificationAndRemovalAreReported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (Watch watch = watch(check, false)) {
      check.output("touch watched/file");
      FileChange created = await(watch, Kind.CREATED, "file");
      Expect.that(!created.folder(), "a file is not reported as a folder");
      Expect.equal(
          "file",
          files.stat(created.path(), NOFOLLOW_LINKS).name(),
          "the name in the reported path");
      check.output("echo more >> watched/file");
      await(watch, Kind.MODIFIED, "file");
      check.output("rm watched/file");
      await(watch, Kind.REMOVED, "file");
      files.makeFolder("watched/folder", 0755);
      Expect.that(
          await(watch, Kind.CREATED, "folder").folder(), "a folder is reported as a folder");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void movesAndAttributeChangesAreReported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("watched/old", "x", UTF_8);
    try (Watch watch = watch(check, false)) {
      files.move("watched/old", "watched/new", false);
      await(watch, Kind.MOVED_FROM, "old");
      await(watch, Kind.MOVED_TO, "new");
      files.changeMode("watched/new", 0600);
      await(watch, Kind.ATTRIBUTES, "new");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void writesByTheFileApiAreReported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (Watch watch = watch(check, false)) {
      files.writeText("watched/file", "content", UTF_8);
      until(
          watch,
          "a written file",
          change ->
              is(change, Kind.MOVED_TO, "file")
                  || is(change, Kind.CREATED, "file")
                  || is(change, Kind.MODIFIED, "file"));
      Expect.equal(
          "content",
          FileContents.text(files, "watched/file"),
          "the file once its change is reported");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void foldersMadeLaterAreWatchedToo(CheckContext check) {
    try (Watch watch = watch(check, true)) {
      check.output("mkdir -p watched/a/b/c; touch watched/a/b/c/file");
      await(watch, Kind.CREATED, "a/b/c/file");
      check.output("echo x >> watched/a/b/c/file");
      await(watch, Kind.MODIFIED, "a/b/c/file");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void everyModificationOfAFileIsReported(CheckContext check) {
    try (Watch watch = watch(check, false)) {
      check.output("touch watched/file");
      await(watch, Kind.CREATED, "file");
      for (int i = 0; i < 3; i++) {
        watch.drain(1000);
        check.output("echo more >> watched/file");
        await(watch, Kind.MODIFIED, "file");
      }
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void onlyTheWatchedFolderIsReported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("watched/sub", 0755);
    files.makeFolder("other", 0755);
    try (Watch watch = watch(check, false)) {
      check.output("touch other/outside; touch watched/sub/deeper; touch beside");
      check.output("touch watched/last");
      List<FileChange> seen =
          until(watch, "the last file", change -> is(change, Kind.CREATED, "last"));
      for (FileChange change : seen) {
        String name = FileContents.below("watched", change.path());
        Expect.that(
            name.equals("last") || name.equals("sub"), "nothing else is reported: " + change);
      }
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void nextReturnsEmptyAfterItsTimeout(CheckContext check) {
    try (Watch watch = watch(check, true)) {
      long start = System.nanoTime();
      Expect.equal(Optional.empty(), watch.next(Duration.ofMillis(200)), "no change");
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      Expect.that(took.toMillis() >= 150, "it waits for its timeout, not " + took);
      Expect.that(!watch.ended(), "the watch has not ended");
      check.output("touch watched/file");
      await(watch, Kind.CREATED, "file");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void aClosedWatchHasEnded(CheckContext check) {
    Watch watch = watch(check, false);
    watch.close();
    Expect.that(watch.ended(), "a closed watch has ended");
    Expect.equal(
        Optional.empty(), watch.next(Duration.ofSeconds(5)), "the next change after close");
    watch.close();
    try (Watch again = watch(check, false)) {
      check.output("touch watched/file");
      await(again, Kind.CREATED, "file");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void removingTheFolderEndsTheWatch(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (Watch watch = watch(check, true)) {
      files.remove("watched", true);
      until(watch, "its root being gone", change -> change.kind() == Kind.ROOT_GONE);
      Expect.that(watch.ended(), "the watch has ended with its folder");
      Expect.equal(
          Optional.empty(), watch.next(Duration.ofSeconds(5)), "the next change after the end");
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void aBurstIsReportedCompletelyOrAsOverflow(CheckContext check) {
    FileSystem files = check.sandbox().files();
    TestArchive tar = new TestArchive();
    for (int i = 0; i < 500; i++) {
      tar.file("file-" + i, "");
    }
    try (Watch watch = watch(check, true)) {
      files.importTree("watched", FileContents.of(tar.end()), TreeLimits.DEFAULT);
      Set<String> seen = new HashSet<>();
      until(
          watch,
          "500 new files or an overflow",
          change -> {
            if (change.kind() == Kind.CREATED || change.kind() == Kind.MOVED_TO) {
              seen.add(change.path());
            }
            return change.kind() == Kind.OVERFLOW || seen.size() == 500;
          });
    }
  }

  @Check(value = "F5", needs = Watching.class)
  public void missingFolderCannotBeWatched(CheckContext check) {
    Expect.thrown(
        "watching a missing folder",
        () -> check.as(Watching.class).watch("none", false),
        ErrorCode.FILE_NOT_FOUND);
  }

  @Check(value = "F5", needs = Watching.class)
  public void twoWatchesBothReportAChange(CheckContext check) {
    try (Watch one = watch(check, false);
        Watch two = watch(check, true)) {
      check.output("touch watched/file");
      await(one, Kind.CREATED, "file");
      await(two, Kind.CREATED, "file");
    }
  }
}
