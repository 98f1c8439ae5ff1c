package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Snapshotting.Capture;
import dev.isola.spi.capability.Snapshotting.CaptureRequest;
import dev.isola.spi.capability.Snapshotting.CaptureResult;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.SpecFeature;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Checks capturing files and restoring them. */
public final class SnapshotsChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private record CapturedArchive(Bytes bytes, CaptureResult result) {
    byte[] archive() {
      return bytes.toArray();
    }

    Map<String, TestArchive.Entry> entries() {
      Map<String, TestArchive.Entry> byName = new TreeMap<>();
      TestArchive.read(archive()).forEach(entry -> byName.put(entry.plainName(), entry));
      return byName;
    }
  }

  private static Snapshotting of(Sandbox sandbox) {
    return sandbox.as(Snapshotting.class).orElseThrow();
  }

  private static CapturedArchive take(Sandbox sandbox, CaptureRequest request) {
    try (Capture capture = of(sandbox).capture(request)) {
      return new CapturedArchive(Bytes.of(FileContents.all(capture.archive())), capture.result());
    }
  }

  private static void restore(Sandbox sandbox, String folder, byte[] archive) {
    of(sandbox).restore(folder, FileContents.of(archive), TreeLimits.DEFAULT);
  }

  private static CaptureRequest with(String path, List<String> includes, List<String> excludes) {
    return new CaptureRequest(path, includes, excludes, 0, false);
  }

  private static void createFiles(FileSystem files) {
    files.write("tree/script", FileContents.of("#!/bin/sh\n"), WriteOptions.DEFAULT.withMode(0755));
    files.write("tree/private", FileContents.of("x"), WriteOptions.DEFAULT.withMode(0600));
    files.write(
        "tree/a/b/noise", FileContents.of(FileContents.random(300_001, 7)), WriteOptions.DEFAULT);
    files.writeText("tree/a/empty", "", UTF_8);
    files.writeText("tree/a/größe und mehr", "ü", UTF_8);
    files.makeFolder("tree/nothing/in/here", 0750);
    files.makeLink("tree/a/link", "../script");
    files.makeLink("tree/dangling", "nowhere");
    files.makeLink("tree/out", "/usr/bin/env");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void captureRestoresTheSameTreeElsewhere(CheckContext check) {
    FileSystem files = check.sandbox().files();
    createFiles(files);
    Map<String, String> before = FileContents.described(files, "tree");
    Sandbox other = check.create(spec -> spec);
    restore(other, "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    Expect.equal(13, before.size(), "the number of entries");
    Expect.equal(
        before, FileContents.described(other.files(), "copy"), "the tree in the other sandbox");
    Expect.equal(
        before, FileContents.described(files, "tree"), "the tree that was taken, afterwards");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void attributesAreKept(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("tree/file", "x", UTF_8);
    try {
      files.setAttribute("tree/file", "mark", Bytes.of(new byte[] {0, -1, 10}));
      files.setAttribute("tree", "of.folder", Bytes.of("y".getBytes(UTF_8)));
    } catch (SandboxException e) {
      throw check.notRun("extended attributes are not supported: " + e.getMessage());
    }
    restore(check.sandbox(), "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    Expect.equal(files.attributes("tree/file"), files.attributes("copy/file"), "of the file");
    Expect.equal(files.attributes("tree"), files.attributes("copy"), "of the folder");
    Expect.equal(1, files.attributes("copy/file").size(), "how many the file has");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void ownersAreKept(CheckContext check) {
    if (!check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("other users are not supported");
    }
    FileSystem files = check.sandbox().files();
    files.writeText("tree/theirs", "x", UTF_8);
    files.changeOwner("tree/theirs", "1234:4321");
    Sandbox other = check.create(spec -> spec);
    restore(other, "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    FileInfo restored = other.files().stat("copy/theirs", NOFOLLOW_LINKS);
    Expect.equal(1234L, restored.uid(), "the owner");
    Expect.equal(4321L, restored.gid(), "the group");
  }

  @Check(value = "N1", needs = Snapshotting.class, tools = "touch")
  public void timesAreKeptToTheNanosecond(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("tree/file", "x", UTF_8);
    String time = "2001-02-03T04:05:06.123456789Z";
    check.run("touch -d '2001-02-03 04:05:06.123456789 UTC' tree/file");
    if (!files.stat("tree/file", NOFOLLOW_LINKS).modifiedAt().toString().equals(time)) {
      throw check.notRun("touch cannot set such times in this sandbox");
    }
    restore(check.sandbox(), "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    Expect.equal(
        time,
        files.stat("copy/file", NOFOLLOW_LINKS).modifiedAt().toString(),
        "the restored file's time");
  }

  @Check(value = "N1", needs = Snapshotting.class, tools = "ln")
  public void hardLinksAreKept(CheckContext check) {
    if (!check.run("mkdir tree && echo old > tree/one && ln tree/one tree/two").succeeded()) {
      throw check.notRun("hard links are not supported");
    }
    restore(check.sandbox(), "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    check.output("echo new > copy/one");
    Expect.equal(
        "new\n", check.output("cat copy/two"), "the other name of the file that was changed");
    Expect.equal("old\n", check.output("cat tree/two"), "the file that was taken");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void onlyIncludedFilesAreCaptured(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name : List.of("src/a.c", "src/a.o", "src/deep/b.c", "docs/x", "top.c")) {
      files.writeText("tree/" + name, name, UTF_8);
    }
    files.makeFolder("tree/empty", 0755);
    Map<String, TestArchive.Entry> result =
        take(check.sandbox(), with("tree", List.of("*.c"), List.of())).entries();
    result.remove("");
    result.remove(".");
    Expect.equal(
        List.of("src", "src/a.c", "src/deep", "src/deep/b.c", "top.c"),
        List.copyOf(result.keySet()),
        "files by a pattern");
    result = take(check.sandbox(), with("tree", List.of("src", "docs"), List.of("deep"))).entries();
    result.remove("");
    result.remove(".");
    Expect.equal(
        List.of("docs", "docs/x", "src", "src/a.c", "src/a.o"),
        List.copyOf(result.keySet()),
        "folders but for what is excluded");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void excludedFilesAreOmitted(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name : List.of("keep", "cache/big", "deep/cache/big", "log/a.log")) {
      files.writeText("tree/" + name, name, UTF_8);
    }
    Map<String, TestArchive.Entry> result =
        take(check.sandbox(), with("tree", List.of(), List.of("cache", "log/*.log"))).entries();
    result.remove("");
    result.remove(".");
    Expect.equal(List.of("deep", "keep", "log"), List.copyOf(result.keySet()), "what is left");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void invalidCaptureRequestsAreRejected(CheckContext check) {
    check.sandbox().files().writeText("tree/file", "x", UTF_8);
    Expect.thrown(
        "a folder that is not there",
        () -> take(check.sandbox(), CaptureRequest.of("nowhere")),
        ErrorCode.FILE_NOT_FOUND);
    for (String pattern : List.of("/etc", "../x", "")) {
      Expect.thrown(
          "the pattern '" + pattern + "'",
          () -> take(check.sandbox(), with("tree", List.of(pattern), List.of())),
          InvalidRequest.class);
    }
    Expect.equal(
        3, take(check.sandbox(), CaptureRequest.of(".")).entries().size(), "and then it works");
  }

  @Check(value = "N1", needs = Snapshotting.class, tools = "mkfifo")
  public void pipesAreOmitted(CheckContext check) {
    check.output("mkdir tree && mkfifo tree/pipe && echo x > tree/file");
    CapturedArchive captured = take(check.sandbox(), CaptureRequest.of("tree"));
    Expect.that(!captured.entries().containsKey("pipe"), "a pipe is not in the capture");
    restore(check.sandbox(), "copy", captured.archive());
    Expect.equal(List.of("file"), FileContents.names(check.sandbox().files(), "copy"), "the copy");
  }

  /** A command writes two files in turn; a large file lies between them in the archive. */
  private static Execution writer(CheckContext check) {
    check.output("mkdir tree");
    FileSystem files = check.sandbox().files();
    files.write("tree/m", FileContents.of(FileContents.random(8 << 20, 3)), WriteOptions.DEFAULT);
    Execution writer =
        check
            .sandbox()
            .start(
                Command.shell(
                    "cd tree; i=0; while true; do i=$((i+1)); echo $i > a.new; mv a.new a;"
                        + " echo $i > z.new; mv z.new z; done"));
    Expect.eventually(TIMEOUT, "the command writes", () -> files.exists("tree/z"));
    return writer;
  }

  private static TestArchive.Entry entry(Map<String, TestArchive.Entry> entries, String name) {
    TestArchive.Entry found = entries.get(name);
    if (found == null) {
      throw new CheckFailed("the capture has no " + name);
    }
    return found;
  }

  private static long number(Map<String, TestArchive.Entry> entries, String name) {
    return Long.parseLong(entry(entries, name).content().utf8().strip());
  }

  @Check(
      value = "N1",
      needs = Snapshotting.class,
      tools = {"mv", "mkdir"})
  public void commandsAreFrozenDuringACapture(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (Execution writer = writer(check)) {
      for (int round = 0; round < 3; round++) {
        CapturedArchive captured =
            take(check.sandbox(), with("tree", List.of(), List.of("*.new")).frozen());
        long distance = number(captured.entries(), "a") - number(captured.entries(), "z");
        Expect.that(
            distance == 0 || distance == 1, "both files are of one moment, but " + distance);
        Expect.that(
            captured.result().frozenFor().isPositive(), "it tells how long commands were frozen");
        String then = FileContents.text(files, "tree/z");
        Expect.eventually(
            TIMEOUT,
            "the command keeps running",
            () -> !FileContents.text(files, "tree/z").equals(then));
      }
      writer.kill();
    }
  }

  @Check(
      value = "N1",
      needs = Snapshotting.class,
      tools = {"mv", "mkdir"})
  public void closingACaptureEarlyUnfreezesCommands(CheckContext check) throws IOException {
    FileSystem files = check.sandbox().files();
    try (Execution writer = writer(check)) {
      try (Capture capture = of(check.sandbox()).capture(CaptureRequest.of("tree").frozen())) {
        Expect.equal(512, capture.archive().readNBytes(512).length, "the bytes that were read");
      }
      String then = FileContents.text(files, "tree/z");
      Expect.eventually(
          TIMEOUT,
          "the command keeps running",
          () -> !FileContents.text(files, "tree/z").equals(then));
      writer.kill();
    }
  }

  @Check(value = "N3", needs = Snapshotting.class)
  public void unchangedFilesAreIdentifiedByTheirMark(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name : List.of("kept", "changed", "renamed", "chmodded", "replaced")) {
      files.writeText("tree/" + name, "content of " + name, UTF_8);
    }
    CapturedArchive first = take(check.sandbox(), CaptureRequest.of("tree"));
    if (first.result().capturedAt() == 0) {
      throw check.notRun("the provider cannot detect changes");
    }
    // A change within the timestamp granularity cannot be detected, so files must be a few seconds
    // old.
    CapturedArchive[] before = {first};
    Map<String, String> marks = new HashMap<>();
    Expect.eventually(
        TIMEOUT,
        "unchanged files are identified by their marks",
        () -> {
          before[0] = take(check.sandbox(), CaptureRequest.of("tree"));
          before[0].entries().forEach((name, one) -> one.mark().ifPresent(m -> marks.put(name, m)));
          CapturedArchive next =
              take(
                  check.sandbox(),
                  CaptureRequest.of("tree").since(before[0].result().capturedAt()));
          return next.entries().values().stream().filter(e -> e.unchanged().isPresent()).count()
              == 5;
        });
    files.writeText("tree/changed", "CONTENT of changed", UTF_8);
    files.move("tree/renamed", "tree/other", false);
    files.changeMode("tree/chmodded", 0600);
    files.writeText("tree/new", "new", UTF_8);
    files.move("tree/new", "tree/replaced", true);
    Map<String, TestArchive.Entry> after =
        take(check.sandbox(), CaptureRequest.of("tree").since(before[0].result().capturedAt()))
            .entries();
    TestArchive.Entry kept = entry(after, "kept");
    Expect.that(kept.unchanged().isPresent(), "an unchanged file is identified by its mark");
    Expect.equal(marks.get("kept"), kept.mark().orElse(""), "its mark");
    Expect.equal("15", kept.unchanged().get(), "its size");
    Expect.equal("CONTENT of changed", entry(after, "changed").content().utf8(), "what changed");
    Expect.equal("new", entry(after, "replaced").content().utf8(), "what was replaced");
    Expect.that(!after.containsKey("renamed"), "a removed file is not in the capture");
    TestArchive.Entry renamed = entry(after, "other");
    Expect.that(
        renamed.unchanged().isEmpty() || renamed.mark().orElse("").equals(marks.get("renamed")),
        "what was renamed has its content, or the mark of before");
    Expect.that(entry(after, "chmodded").unchanged().isEmpty(), "changed permissions are a change");
  }

  @Check(value = "N2", needs = Snapshotting.class)
  public void hostileArchivesAreRefused(CheckContext check) {
    FileSystem files = check.sandbox().files();
    Map<String, byte[]> hostile =
        Map.of(
            "a name that climbs", new TestArchive().file("../outside", "x").end(),
            "an absolute name", new TestArchive().file("/tmp/outside", "x").end(),
            "a device", new TestArchive().entry("dev", TestArchive.DEVICE, 0644, 0, "").end(),
            "an end in the middle", Arrays.copyOf(new TestArchive().file("x", "y").cut(), 600),
            "something through a link", new TestArchive().link("l", "/tmp").file("l/x", "y").end());
    hostile.forEach(
        (what, archive) -> {
          Expect.thrown(what, () -> restore(check.sandbox(), "in", archive), ErrorCode.BAD_ARCHIVE);
          Expect.that(!files.exists("outside"), "nothing is outside after " + what);
          if (files.exists("in")) {
            files.remove("in", true);
          }
        });
  }

  @Check(value = "N2", needs = Snapshotting.class)
  public void archiveLimitsAreEnforced(CheckContext check) {
    byte[] archive = new TestArchive().file("a", "1234567890").file("b", "1234567890").end();
    Snapshotting snapshotting = of(check.sandbox());
    Expect.thrown(
        "too many bytes",
        () -> snapshotting.restore("in", FileContents.of(archive), new TreeLimits(15, 100)),
        ErrorCode.RESOURCE_LIMIT);
    Expect.thrown(
        "too many entries",
        () -> snapshotting.restore("in", FileContents.of(archive), new TreeLimits(1000, 1)),
        ErrorCode.RESOURCE_LIMIT);
    Expect.equal(
        2L,
        snapshotting.restore("in", FileContents.of(archive), new TreeLimits(20, 2)).entries(),
        "what is allowed");
  }

  @Check(value = "N2", needs = Snapshotting.class)
  public void twoThousandFilesAreRestored(CheckContext check) {
    TestArchive tar = new TestArchive();
    for (int i = 0; i < 2000; i++) {
      tar.file("folder-" + i % 20 + "/file-" + i, "content " + i);
    }
    check.sandbox().files().importTree("tree", FileContents.of(tar.end()), TreeLimits.DEFAULT);
    Sandbox other = check.create(spec -> spec);
    restore(other, "copy", take(check.sandbox(), CaptureRequest.of("tree")).archive());
    Expect.equal(
        2020, FileContents.all(other.files().list("copy", 0)).size(), "the files and folders");
    Expect.equal(
        "content 1234",
        FileContents.text(other.files(), "copy/folder-14/file-1234"),
        "one of them");
  }

  @Check(value = "N1", needs = Snapshotting.class)
  public void destroyedSandboxCannotBeCaptured(CheckContext check) {
    Snapshotting snapshotting = of(check.sandbox());
    check.provider().destroy(check.sandbox().id(), DestroyOptions.FORCE);
    Expect.gone("a capture", () -> snapshotting.capture(CaptureRequest.of(".")).close());
    Expect.gone(
        "a restore",
        () ->
            snapshotting.restore(
                "in", FileContents.of(new TestArchive().end()), TreeLimits.DEFAULT));
  }
}
