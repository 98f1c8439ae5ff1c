package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Checks export and import of folders as archives. */
public final class TreesChecks {
  private static TreeSummary unpack(FileSystem files, String folder, byte[] archive) {
    return files.importTree(folder, FileContents.of(archive), TreeLimits.DEFAULT);
  }

  private static byte[] pack(FileSystem files, String folder, String... excludes) {
    return FileContents.all(files.exportTree(folder, List.of(excludes)));
  }

  /** Describes every file beneath {@code folder} on one line: type, mode, target, content. */
  private static Map<String, String> described(FileSystem files, String folder) {
    Map<String, String> lines = new TreeMap<>();
    for (FileInfo entry : FileContents.all(files.list(folder, 0))) {
      int content =
          entry.type() == FileType.FILE
              ? Arrays.hashCode(FileContents.bytes(files, entry.path()))
              : 0;
      String mode = entry.type() == FileType.LINK ? "" : Integer.toOctalString(entry.mode());
      lines.put(
          FileContents.below(folder, entry.path()),
          entry.type() + " " + mode + " " + entry.linkTarget().orElse("") + " " + content);
    }
    return lines;
  }

  private static void refused(CheckContext check, String what, byte[] archive) {
    FileSystem files = check.sandbox().files();
    Expect.thrown(what, () -> unpack(files, "target", archive), ErrorCode.BAD_ARCHIVE);
    files.remove("target", true);
    Expect.equal(List.of(), FileContents.names(files, "."), "the workspace after " + what);
  }

  @Check("F3")
  public void treeIsExportedAndImportedUnchanged(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.write("tree/script", FileContents.of("#!/bin/sh\n"), WriteOptions.DEFAULT.withMode(0755));
    files.write("tree/private", FileContents.of("x"), WriteOptions.DEFAULT.withMode(0600));
    files.write(
        "tree/a/b/noise", FileContents.of(FileContents.random(100_001, 7)), WriteOptions.DEFAULT);
    files.writeText("tree/a/empty", "", UTF_8);
    files.writeText("tree/a/größe und mehr", "ü", UTF_8);
    files.makeFolder("tree/nothing/in/here", 0750);
    files.makeLink("tree/a/link", "../script");
    files.makeLink("tree/dangling", "nowhere");
    unpack(files, "copy", pack(files, "tree"));
    Expect.equal(described(files, "tree"), described(files, "copy"), "the copy");
    Expect.equal(12, described(files, "copy").size(), "the number of entries");
  }

  @Check("F3")
  public void foreignArchiveIsExtracted(CheckContext check) {
    FileSystem files = check.sandbox().files();
    byte[] archive =
        new TestArchive()
            .folder("a", 0750)
            .file("a/file", 0640, "content".getBytes(UTF_8))
            .file("./b/c", "no folder entry of its own")
            .link("a/link", "file")
            .hardLink("a/same", "a/file")
            .end();
    TreeSummary summary = unpack(files, "in", archive);
    Expect.equal(5L, summary.entries(), "the entries that importTree counts");
    Expect.equal(33L, summary.bytes(), "the bytes that importTree counts");
    Expect.equal("content", FileContents.text(files, "in/a/file"), "the file");
    Expect.equal("content", FileContents.text(files, "in/a/same"), "the hard link");
    Expect.equal(
        Optional.of("file"), files.stat("in/a/link", NOFOLLOW_LINKS).linkTarget(), "the link");
    Expect.equal(0640, files.stat("in/a/file", NOFOLLOW_LINKS).mode(), "the mode of the file");
    Expect.equal(0750, files.stat("in/a", NOFOLLOW_LINKS).mode(), "the mode of the folder");
    Expect.equal(
        "no folder entry of its own", FileContents.text(files, "in/b/c"), "the other file");
  }

  @Check("F3")
  public void existingFilesAreKeptOrReplaced(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("in/kept", "kept", UTF_8);
    files.writeText("in/replaced", "a long old text", UTF_8);
    unpack(files, "in", new TestArchive().file("replaced", "new").end());
    Expect.equal("kept", FileContents.text(files, "in/kept"), "what the archive does not have");
    Expect.equal("new", FileContents.text(files, "in/replaced"), "what the archive has");
  }

  @Check("F3")
  public void longNamesAreExportedAndImported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    String folder = "f".repeat(120) + "/" + "g".repeat(120) + "/" + "h".repeat(120);
    files.writeText("tree/" + folder + "/" + "x".repeat(200), "far", UTF_8);
    files.writeText("tree/" + "y".repeat(255), "long", UTF_8);
    files.makeLink("tree/link", "t".repeat(200));
    byte[] archive = pack(files, "tree");
    List<String> names =
        TestArchive.read(archive).stream().map(TestArchive.Entry::plainName).toList();
    Expect.that(
        names.contains(folder + "/" + "x".repeat(200)), "the archive has the whole long path");
    unpack(files, "copy", archive);
    Expect.equal(described(files, "tree"), described(files, "copy"), "the copy");
  }

  @Check("F3")
  public void deepFoldersAreExportedAndImported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    String deep = "d/".repeat(100);
    files.writeText("tree/" + deep + "bottom", "here", UTF_8);
    unpack(files, "copy", pack(files, "tree"));
    Expect.equal("here", FileContents.text(files, "copy/" + deep + "bottom"), "the deepest file");
    files.remove("tree", true);
    Expect.equal(List.of("copy"), FileContents.names(files, "."), "the workspace");
  }

  @Check("F3")
  public void twoThousandFilesAreImportedAndExported(CheckContext check) {
    FileSystem files = check.sandbox().files();
    TestArchive tar = new TestArchive();
    for (int i = 0; i < 2000; i++) {
      tar.file("folder-" + i % 20 + "/file-" + i, "content " + i);
    }
    Expect.equal(2000L, unpack(files, "in", tar.end()).entries(), "the entries");
    Expect.equal("content 1234", FileContents.text(files, "in/folder-14/file-1234"), "one of them");
    long count =
        TestArchive.read(pack(files, "in")).stream()
            .filter(entry -> entry.type() == TestArchive.FILE)
            .filter(
                entry ->
                    entry
                        .content()
                        .utf8()
                        .equals("content " + entry.name().replaceFirst(".*file-", "")))
            .count();
    Expect.equal(2000L, count, "the files that came out with their content");
  }

  @Check("F3")
  public void excludedPathsAreLeftOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name : List.of("a.txt", "b.log", "sub/c.log", "sub/d.txt", "cache/x/y")) {
      files.writeText("tree/" + name, name, UTF_8);
    }
    List<String> left =
        TestArchive.read(pack(files, "tree", "**/*.log", "cache")).stream()
            .filter(entry -> entry.type() == TestArchive.FILE)
            .map(TestArchive.Entry::plainName)
            .sorted()
            .toList();
    Expect.equal(List.of("a.txt", "sub/d.txt"), left, "what was packed");
  }

  @Check("F3")
  public void aSingleFileIsPacked(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("folder/file.txt", "alone", UTF_8);
    List<TestArchive.Entry> entries = TestArchive.read(pack(files, "folder/file.txt"));
    Expect.equal(1, entries.size(), "the number of entries");
    Expect.equal("file.txt", entries.getFirst().plainName(), "the name");
    Expect.equal("alone", entries.getFirst().content().utf8(), "the content");
  }

  @Check("F3")
  public void namesThatLeadOutAreRefused(CheckContext check) {
    refused(check, "an absolute name", new TestArchive().file("/isola-absolute", "x").end());
    refused(check, "a name with ..", new TestArchive().file("../isola-up", "x").end());
    refused(check, "a name with .. inside", new TestArchive().file("a/../../isola-up", "x").end());
    refused(check, "a folder with ..", new TestArchive().folder("a/../../isola-up", 0755).end());
    refused(check, "a hard link to ..", new TestArchive().hardLink("x", "../isola-up").end());
    refused(check, "an absolute hard link", new TestArchive().hardLink("x", "/etc/passwd").end());
  }

  @Check("F3")
  public void entriesThroughLinksAreRefused(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("other/file", "as it was", UTF_8);
    byte[] archive = new TestArchive().link("l", "../other").file("l/file", "spoiled").end();
    Expect.thrown(
        "an entry through a link", () -> unpack(files, "in", archive), ErrorCode.BAD_ARCHIVE);
    Expect.equal("as it was", FileContents.text(files, "other/file"), "the file behind the link");
  }

  @Check("F3")
  public void devicesAndPipesAreRefused(CheckContext check) {
    refused(
        check, "a device", new TestArchive().entry("zero", TestArchive.DEVICE, 0666, 0, "").end());
    refused(check, "a block device", new TestArchive().entry("disk", '4', 0666, 0, "").end());
    refused(check, "a pipe", new TestArchive().entry("pipe", TestArchive.FIFO, 0666, 0, "").end());
    refused(check, "a type that is none", new TestArchive().entry("what", 'Z', 0666, 0, "").end());
  }

  @Check("F3")
  public void brokenArchivesAreRefused(CheckContext check) {
    byte[] wrongSum = new TestArchive().file("file", "content").end();
    wrongSum[0] = 'F';
    refused(check, "a wrong checksum", wrongSum);
    byte[] archive = new TestArchive().file("file", 0644, FileContents.random(5000, 1)).end();
    refused(check, "content that is cut off", Arrays.copyOf(archive, 3000));
    refused(check, "a header that is cut off", Arrays.copyOf(archive, 300));
    refused(check, "text", "this is no archive at all. ".repeat(100).getBytes(UTF_8));
    refused(
        check,
        "a size that is not there",
        new TestArchive().entry("huge", TestArchive.FILE, 0644, 1L << 32, "").end());
  }

  @Check("F3")
  public void limitsOfAnArchiveHold(CheckContext check) {
    FileSystem files = check.sandbox().files();
    TestArchive tar = new TestArchive();
    for (int i = 0; i < 10; i++) {
      tar.file("file-" + i, 0644, new byte[1000]);
    }
    byte[] archive = tar.end();
    TreeSummary exact = files.importTree("a", FileContents.of(archive), new TreeLimits(10_000, 10));
    Expect.equal(new TreeSummary(10, 10_000), exact, "what fits exactly");
    Expect.thrown(
        "one byte too much",
        () -> files.importTree("b", FileContents.of(archive), new TreeLimits(9_999, 10)),
        ErrorCode.RESOURCE_LIMIT);
    Expect.thrown(
        "one entry too much",
        () -> files.importTree("c", FileContents.of(archive), new TreeLimits(10_000, 9)),
        ErrorCode.RESOURCE_LIMIT);
    byte[] bomb = new TestArchive().entry("bomb", TestArchive.FILE, 0644, 8L << 30, "").end();
    Expect.thrown(
        "a bomb",
        () -> files.importTree("d", FileContents.of(bomb), new TreeLimits(1 << 20, 10)),
        ErrorCode.RESOURCE_LIMIT);
  }

  @Check("F3")
  public void exportOfAGrowingFileIsAValidArchive(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("tree/z-last", "last", UTF_8);
    files.writeText("tree/growing", "", UTF_8);
    Command growth = Command.shell("head -c 20000000 /dev/zero > tree/growing");
    try (Execution growing = check.sandbox().start(growth)) {
      boolean going = true;
      while (going) {
        going = growing.await(Duration.ofMillis(1)).isEmpty();
        List<String> names =
            TestArchive.read(pack(files, "tree")).stream()
                .map(TestArchive.Entry::plainName)
                .toList();
        Expect.that(
            names.containsAll(List.of("growing", "z-last")), "both are packed, not " + names);
      }
    }
  }

  @Check("F3")
  public void aBrokenSourceEndsTheImport(CheckContext check) {
    FileSystem files = check.sandbox().files();
    byte[] archive =
        new TestArchive()
            .file("first", "whole")
            .file("second", 0644, FileContents.random(900_000, 5))
            .end();
    boolean thrown = false;
    try {
      files.importTree(
          "in",
          new FileContents.BreakingInputStream(Arrays.copyOf(archive, 500_000)),
          TreeLimits.DEFAULT);
    } catch (RuntimeException expected) {
      thrown = true;
    }
    Expect.that(thrown, "an import whose source breaks throws");
    // Whether the first file is extracted before the source fails is a race; that no partial file
    // remains is not.
    Expect.eventually(
        Duration.ofSeconds(5),
        "nothing half is left",
        () -> !files.exists("in") || List.of("first").containsAll(FileContents.names(files, "in")));
    if (files.exists("in/first")) {
      Expect.equal("whole", FileContents.text(files, "in/first"), "what was unpacked before");
    }
  }

  @Check("F3")
  public void importingOntoAFileIsRefused(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "kept", UTF_8);
    Expect.thrown(
        "an import into a file",
        () -> unpack(files, "file", new TestArchive().file("x", "y").end()),
        SandboxException.class);
    Expect.equal("kept", FileContents.text(files, "file"), "the file");
  }
}
