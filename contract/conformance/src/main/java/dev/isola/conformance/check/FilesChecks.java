package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.SpecFeature;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Checks each operation of the file system. */
public final class FilesChecks {
  private static final WriteOptions DEFAULT = WriteOptions.DEFAULT;

  @Check("F1")
  public void writtenContentIsReadBack(CheckContext check) {
    FileSystem files = check.sandbox().files();
    byte[] everyByte = new byte[256];
    for (int i = 0; i < everyByte.length; i++) {
      everyByte[i] = (byte) i;
    }
    for (byte[] content : List.of(new byte[0], new byte[] {'x'}, everyByte)) {
      FileInfo written = files.write("file", FileContents.of(content), DEFAULT);
      Expect.equal((long) content.length, written.size(), "the size that write returns");
      Expect.equal(FileType.FILE, written.type(), "the type that write returns");
      Expect.equal(content, FileContents.bytes(files, "file"), "the file");
    }
  }

  @Check("F2")
  public void fiveMegabytesArriveUnchanged(CheckContext check) {
    FileSystem files = check.sandbox().files();
    byte[] content = FileContents.random(5_000_000, 1);
    Expect.equal(
        5_000_000L, files.write("big", FileContents.of(content), DEFAULT).size(), "the size");
    Expect.equal(content, FileContents.bytes(files, "big"), "the file");
  }

  @Check("F1")
  public void textIsWrittenInTheEncodingAskedFor(CheckContext check) {
    FileSystem files = check.sandbox().files();
    String text = "naïve Größe";
    Expect.equal(14L, files.writeText("utf8", text, UTF_8).size(), "the size in UTF-8");
    Expect.equal(11L, files.writeText("latin", text, ISO_8859_1).size(), "the size in Latin-1");
    Expect.equal(22L, files.writeText("wide", text, UTF_16LE).size(), "the size in UTF-16");
    Expect.equal(text, files.readText("utf8", UTF_8, 100), "the text in UTF-8");
    Expect.equal(text, files.readText("latin", ISO_8859_1, 100), "the text in Latin-1");
    Expect.equal(text, files.readText("wide", UTF_16LE, 100), "the text in UTF-16");
  }

  @Check("F1")
  public void missingParentsAreMade(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("a/b/c/file", "deep", UTF_8);
    Expect.equal("deep", FileContents.text(files, "a/b/c/file"), "the file");
    Expect.equal(
        FileType.FOLDER, files.stat("a/b", NOFOLLOW_LINKS).type(), "the type of the parent");
  }

  @Check("F1")
  public void aSecondWriteReplacesTheFirst(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "a long first text", UTF_8);
    files.writeText("file", "short", UTF_8);
    Expect.equal("short", FileContents.text(files, "file"), "the file, written atomically");
    files.write("file", FileContents.of("in"), DEFAULT.inPlace());
    Expect.equal("in", FileContents.text(files, "file"), "the file, written in place");
  }

  @Check("F1")
  public void modeIsSetOnRequestAndKeptOtherwise(CheckContext check) {
    FileSystem files = check.sandbox().files();
    Expect.equal(0644, files.writeText("plain", "", UTF_8).mode(), "the mode of a new file");
    FileInfo script = files.write("script", FileContents.of("1"), DEFAULT.withMode(0750));
    Expect.equal(0750, script.mode(), "the mode that was asked for");
    files.writeText("script", "2", UTF_8);
    Expect.equal(
        0750, files.stat("script", NOFOLLOW_LINKS).mode(), "the mode after an atomic write");
    files.write("script", FileContents.of("3"), DEFAULT.inPlace());
    Expect.equal(
        0750, files.stat("script", NOFOLLOW_LINKS).mode(), "the mode after a write in place");
  }

  @Check("F1")
  public void exclusiveWriteRejectsAnExistingFile(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.write("file", FileContents.of("first"), DEFAULT.onlyNew());
    Expect.thrown(
        "a second exclusive write",
        () -> files.write("file", FileContents.of("second"), DEFAULT.onlyNew()),
        ErrorCode.FILE_EXISTS);
    Expect.equal("first", FileContents.text(files, "file"), "the file");
    Expect.equal(List.of("file"), FileContents.names(files, "."), "the folder");
  }

  @Check("F1")
  public void appendingAddsToTheEnd(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.write("log", FileContents.of("one "), DEFAULT.appending());
    files.write("log", FileContents.of("two "), DEFAULT.appending());
    FileInfo last = files.write("log", FileContents.of("three"), DEFAULT.appending());
    Expect.equal("one two three", FileContents.text(files, "log"), "the file");
    Expect.equal(13L, last.size(), "the size that the last write returns");
  }

  @Check("F1")
  public void failedWriteChangesNothing(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("folder/kept", "as it was", UTF_8);
    for (String path : List.of("folder/kept", "folder/new")) {
      boolean thrown = false;
      try {
        files.write(
            path, new FileContents.BreakingInputStream(FileContents.random(700_000, 2)), DEFAULT);
      } catch (RuntimeException expected) {
        thrown = true;
      }
      Expect.that(thrown, "a write whose source breaks throws");
    }
    Expect.equal("as it was", FileContents.text(files, "folder/kept"), "the file that was there");
    Expect.equal(List.of("kept"), FileContents.names(files, "folder"), "the folder");
  }

  @Check("F1")
  public void commandsAndTheFileApiSeeTheSameFiles(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("from-api", "written by the API", UTF_8);
    Expect.equal("written by the API", check.output("cat from-api"), "what a command reads");
    check.output("printf 'written by a command' > from-command");
    Expect.equal(
        "written by a command", FileContents.text(files, "from-command"), "what the API reads");
    files.remove("from-command", false);
    Expect.that(
        !check.run("test -e from-command").succeeded(), "a removed file is gone for commands too");
  }

  @Check("F2")
  public void rangesAreReadExactly(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("digits", "0123456789", UTF_8);
    Expect.equal("234", FileContents.range(files, "digits", 2, 3), "3 bytes from 2");
    Expect.equal("0", FileContents.range(files, "digits", 0, 1), "1 byte from 0");
    Expect.equal("89", FileContents.range(files, "digits", 8, 100), "100 bytes from 8");
    Expect.equal("", FileContents.range(files, "digits", 10, 5), "5 bytes from the end");
    Expect.equal("", FileContents.range(files, "digits", 1L << 40, 5), "5 bytes from far beyond");
    Expect.equal("", FileContents.range(files, "digits", 3, 0), "no bytes from 3");
    Expect.equal(
        "56789", FileContents.range(files, "digits", 5, Long.MAX_VALUE), "everything from 5");
  }

  @Check("F2")
  public void streamCanBeClosedEarly(CheckContext check) throws IOException {
    FileSystem files = check.sandbox().files();
    byte[] content = FileContents.random(3_000_000, 3);
    files.write("big", FileContents.of(content), DEFAULT);
    for (int i = 0; i < 50; i++) {
      try (InputStream in = files.read("big", ReadRange.ALL)) {
        Expect.equal(content[0] & 0xff, in.read(), "the first byte");
      }
    }
    Expect.equal(content, FileContents.bytes(files, "big"), "the file afterwards");
    Expect.equal("works\n", check.output("echo works"), "a command afterwards");
  }

  @Check("F1")
  public void statReturnsMetadata(CheckContext check) {
    FileSystem files = check.sandbox().files();
    Instant before = Instant.now();
    files.write("file", FileContents.of("12345"), DEFAULT.withMode(0640));
    FileInfo info = files.stat("file", NOFOLLOW_LINKS);
    Expect.equal(FileType.FILE, info.type(), "the type");
    Expect.equal(5L, info.size(), "the size");
    Expect.equal(0640, info.mode(), "the mode");
    Expect.equal("file", info.name(), "the name");
    Expect.equal(Optional.empty(), info.linkTarget(), "the target of a file that is not a link");
    Expect.that(!info.owner().isEmpty(), "a file has an owner");
    Expect.that(!info.group().isEmpty(), "a file has a group");
    Expect.recent(before, info.modifiedAt(), "the time of a new file");
    Expect.equal("12345", FileContents.text(files, info.path()), "the file by the path stat gives");
  }

  @Check("F1")
  public void statDescribesFoldersAndLinksThemselves(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("folder", 0755);
    files.writeText("folder/file", "12345", UTF_8);
    files.makeLink("link", "folder/file");
    Expect.equal(
        FileType.FOLDER, files.stat("folder", NOFOLLOW_LINKS).type(), "the type of the folder");
    FileInfo link = files.stat("link", NOFOLLOW_LINKS);
    Expect.equal(FileType.LINK, link.type(), "the type of the link");
    Expect.equal(Optional.of("folder/file"), link.linkTarget(), "the target of the link");
    Expect.equal("12345", FileContents.text(files, "link"), "what is read through the link");
  }

  @Check("F1")
  public void missingPathIsNotFound(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("there", "", UTF_8);
    Expect.that(files.exists("there"), "a file that was written exists");
    Expect.that(!files.exists("none"), "a file that was not written does not exist");
    Expect.that(!files.exists("no/such/folder"), "nothing exists in a missing folder");
    Map<String, Runnable> calls =
        Map.of(
            "stat", () -> files.stat("none", NOFOLLOW_LINKS),
            "read", () -> FileContents.bytes(files, "none"),
            "list", () -> FileContents.names(files, "none"),
            "move", () -> files.move("none", "other", true),
            "remove", () -> files.remove("none", true),
            "changeMode", () -> files.changeMode("none", 0600),
            "exportTree", () -> FileContents.all(files.exportTree("none", List.of())));
    calls.forEach(
        (name, call) -> Expect.thrown(name + " of a missing file", call, ErrorCode.FILE_NOT_FOUND));
  }

  @Check("F1")
  public void listHonoursItsDepth(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("top/a/b/c", "", UTF_8);
    files.writeText("top/file", "1", UTF_8);
    Expect.equal(
        List.of("a", "file"), FileContents.below("top", files.list("top", 1)), "one level");
    Expect.equal(
        List.of("a", "a/b", "file"), FileContents.below("top", files.list("top", 2)), "two levels");
    Expect.equal(
        List.of("a", "a/b", "a/b/c", "file"),
        FileContents.below("top", files.list("top", 0)),
        "all levels");
    for (FileInfo entry : FileContents.all(files.list("top", 0))) {
      Expect.equal(
          entry.type(),
          files.stat(entry.path(), NOFOLLOW_LINKS).type(),
          "the type by the listed " + entry.path());
    }
  }

  @Check("F1")
  public void unusualNamesAreKept(CheckContext check) {
    FileSystem files = check.sandbox().files();
    List<String> names =
        List.of(
            " ",
            "a b",
            "-rf",
            "--help",
            "new\nline",
            "tab\t",
            "quote'\"",
            "back\\slash",
            "$HOME",
            "*",
            "größe",
            "日本語",
            "🏝",
            "...",
            ".hidden",
            "x".repeat(255));
    for (String name : names) {
      files.writeText("odd/" + name, name, UTF_8);
    }
    Expect.equal(names.stream().sorted().toList(), FileContents.names(files, "odd"), "the names");
    for (String name : names) {
      Expect.equal(name, FileContents.text(files, "odd/" + name), "the file named " + name);
    }
  }

  @Check("F1")
  public void filesAndFoldersAreDistinguished(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("empty", 0755);
    files.writeText("file", "x", UTF_8);
    Expect.equal(List.of(), FileContents.names(files, "empty"), "an empty folder");
    Expect.thrown(
        "list of a file", () -> FileContents.names(files, "file"), ErrorCode.NOT_A_FOLDER);
    Expect.thrown(
        "read of a folder", () -> FileContents.bytes(files, "empty"), ErrorCode.IS_A_FOLDER);
    Expect.thrown(
        "write to a folder", () -> files.writeText("empty", "x", UTF_8), ErrorCode.IS_A_FOLDER);
    Expect.thrown(
        "write beneath a file",
        () -> files.writeText("file/x", "x", UTF_8),
        ErrorCode.NOT_A_FOLDER);
  }

  @Check("F1")
  public void aLongFolderIsListedCompletely(CheckContext check) {
    FileSystem files = check.sandbox().files();
    TestArchive tar = new TestArchive();
    for (int i = 0; i < 3000; i++) {
      tar.file("file-" + i, "");
    }
    files.importTree("many", FileContents.of(tar.end()), TreeLimits.DEFAULT);
    Expect.equal(
        3000L,
        FileContents.names(files, "many").stream().distinct().count(),
        "the different names");
    try (var entries = files.list("many", 1)) {
      Expect.equal(7L, entries.limit(7).count(), "entries of a list that is left early");
    }
    Expect.equal("works\n", check.output("echo works"), "a command afterwards");
  }

  @Check("F1")
  public void makeFolderMakesParentsAndMayBeRepeated(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("a/b/c", 0750);
    files.writeText("a/b/c/file", "kept", UTF_8);
    files.makeFolder("a/b/c", 0750);
    Expect.equal(FileType.FOLDER, files.stat("a/b/c", NOFOLLOW_LINKS).type(), "the type");
    Expect.equal(0750, files.stat("a/b/c", NOFOLLOW_LINKS).mode(), "the mode");
    Expect.equal("kept", FileContents.text(files, "a/b/c/file"), "what was in it");
    Expect.thrown(
        "makeFolder where a file is",
        () -> files.makeFolder("a/b/c/file", 0755),
        SandboxException.class);
  }

  @Check("F1")
  public void moveMovesFilesAndFolders(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "content", UTF_8);
    files.move("file", "renamed", false);
    Expect.equal("content", FileContents.text(files, "renamed"), "the moved file");
    files.writeText("from/deep/file", "inner", UTF_8);
    files.makeFolder("into", 0755);
    files.move("from", "into/to", false);
    Expect.equal("inner", FileContents.text(files, "into/to/deep/file"), "the file in the folder");
    Expect.equal(List.of("into", "renamed"), FileContents.names(files, "."), "what is left");
  }

  @Check("F1")
  public void moveReplacesOnlyOnRequest(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("from", "new", UTF_8);
    files.writeText("to", "old", UTF_8);
    Expect.thrown(
        "a move onto a file", () -> files.move("from", "to", false), ErrorCode.FILE_EXISTS);
    Expect.equal("old", FileContents.text(files, "to"), "the target that was refused");
    Expect.equal("new", FileContents.text(files, "from"), "the source that was refused");
    files.move("from", "to", true);
    Expect.equal("new", FileContents.text(files, "to"), "the target that was replaced");
    Expect.that(!files.exists("from"), "the source is gone");
  }

  @Check("F1")
  public void removeIsRecursiveOnlyOnRequest(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("tree/a/file", "x", UTF_8);
    files.writeText("tree/b", "x", UTF_8);
    files.makeFolder("empty", 0755);
    Expect.thrown(
        "remove of a full folder", () -> files.remove("tree", false), ErrorCode.FOLDER_NOT_EMPTY);
    Expect.equal("x", FileContents.text(files, "tree/a/file"), "what was not removed");
    files.remove("tree/b", false);
    files.remove("empty", false);
    Expect.equal(List.of("tree"), FileContents.names(files, "."), "what is left");
    files.remove("tree", true);
    Expect.equal(List.of(), FileContents.names(files, "."), "what is left at the end");
  }

  @Check("F1")
  public void removingALinkKeepsItsTarget(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("kept/file", "x", UTF_8);
    files.makeLink("to-file", "kept/file");
    files.makeLink("to-folder", "kept");
    files.makeFolder("tree", 0755);
    files.makeLink("tree/inner", "../kept");
    files.remove("to-file", false);
    files.remove("to-folder", true);
    files.remove("tree", true);
    Expect.equal(List.of("kept"), FileContents.names(files, "."), "what is left");
    Expect.equal("x", FileContents.text(files, "kept/file"), "the target");
  }

  @Check("F1")
  public void changeModeIsSeenByCommands(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "", UTF_8);
    Expect.that(!check.run("test -x file").succeeded(), "a new file is not executable");
    files.changeMode("file", 0751);
    Expect.equal(0751, files.stat("file", NOFOLLOW_LINKS).mode(), "the mode");
    Expect.that(check.run("test -x file").succeeded(), "the file is executable now");
  }

  @Check("F1")
  public void linksKeepTheirTargetAsWritten(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String target : List.of("none", "./a//b/../c", "loop", "/nowhere/at all")) {
      files.makeLink("loop", target);
      Expect.equal(
          Optional.of(target), files.stat("loop", NOFOLLOW_LINKS).linkTarget(), "the target");
      Expect.equal(List.of("loop"), FileContents.names(files, "."), "the folder");
      Expect.thrownAnyOf(
          "reading the link to " + target,
          () -> FileContents.bytes(files, "loop"),
          List.of(NotFound.class, InvalidRequest.class));
      files.remove("loop", false);
    }
    files.writeText("file", "", UTF_8);
    Expect.thrown(
        "a link where a file is", () -> files.makeLink("file", "x"), ErrorCode.FILE_EXISTS);
  }

  @Check("F1")
  public void globMatchesNamesAndFolders(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name :
        List.of("one.txt", "two.txt", "a1", "b2", "c3", "a10", "sub/three.txt", "sub/x/four.txt")) {
      files.writeText("base/" + name, "", UTF_8);
    }
    expectGlob(files, "*.txt", "one.txt", "two.txt");
    expectGlob(files, "**/*.txt", "one.txt", "sub/three.txt", "sub/x/four.txt", "two.txt");
    expectGlob(files, "[ab]?", "a1", "b2");
    expectGlob(files, "[!ab][0-9]", "c3");
    expectGlob(files, "sub/*.txt", "sub/three.txt");
    expectGlob(files, "*/x", "sub/x");
    expectGlob(files, "*.none");
  }

  @Check("F1")
  public void globStarsDoNotMatchALeadingDot(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String name : List.of(".hidden", ".git/config", "shown")) {
      files.writeText("base/" + name, "", UTF_8);
    }
    expectGlob(files, "*", "shown");
    expectGlob(files, "?hidden");
    expectGlob(files, ".h*", ".hidden");
    expectGlob(files, "**/config");
    expectGlob(files, ".git/*", ".git/config");
  }

  private static void expectGlob(FileSystem files, String pattern, String... found) {
    Expect.equal(
        List.of(found), FileContents.below("base", files.glob("base", pattern)), "glob " + pattern);
  }

  @Check("F1")
  public void attributesAreKept(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "", UTF_8);
    try {
      files.setAttribute("file", "colour", Bytes.utf8("blue"));
    } catch (Unsupported e) {
      throw check.notRun("the sandbox's file system has no extended attributes: " + e.getMessage());
    }
    files.setAttribute("file", "raw", Bytes.of(new byte[] {0, 1, (byte) 0xff}));
    files.setAttribute("file", "colour", Bytes.utf8("green"));
    Expect.equal(
        Map.of("colour", Bytes.utf8("green"), "raw", Bytes.of(new byte[] {0, 1, (byte) 0xff})),
        files.attributes("file"),
        "the attributes");
    files.removeAttribute("file", "colour");
    Expect.equal(Set.of("raw"), files.attributes("file").keySet(), "the names that are left");
  }

  @Check(value = "F1", tools = "mkfifo")
  public void pipesAreNotReadAsFiles(CheckContext check) {
    FileSystem files = check.sandbox().files();
    check.output("mkfifo pipe");
    Expect.equal(FileType.OTHER, files.stat("pipe", NOFOLLOW_LINKS).type(), "the type");
    Expect.thrown("reading a pipe", () -> FileContents.bytes(files, "pipe"), ErrorCode.NOT_A_FILE);
    Expect.thrown(
        "writing in place to a pipe",
        () -> files.write("pipe", FileContents.of("x"), DEFAULT.inPlace()),
        ErrorCode.NOT_A_FILE);
  }

  @Check("F2")
  public void devicesAreNotReadAsFiles(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String device : List.of("/dev/zero", "/dev/tty", "/dev/random")) {
      Expect.thrownAnyOf(
          "reading " + device,
          () -> files.read(device, ReadRange.ALL),
          List.of(InvalidRequest.class, NotFound.class));
    }
  }

  @Check("F1")
  public void relativePathsStartAtTheWorkingFolder(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("here", "x", UTF_8);
    String folder = check.output("pwd").strip();
    Expect.equal(
        "x", check.output("cat '" + folder + "/here'"), "the file in the commands' folder");
    Expect.equal("x", FileContents.text(files, "/workspace/here"), "the file by its full path");
    Expect.equal("x", FileContents.text(files, "./here"), "./here");
    files.writeText("/workspace/there", "y", UTF_8);
    Expect.equal("y", FileContents.text(files, "there"), "the file by its relative path");
  }

  @Check("F2")
  public void readBytesRejectsAFileLargerThanItsLimit(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("ten", "0123456789", UTF_8);
    Expect.equal(10, files.readBytes("ten", 10).length, "the size at the limit");
    Expect.thrown(
        "reading 10 bytes with a limit of 9",
        () -> files.readBytes("ten", 9),
        ErrorCode.RESOURCE_LIMIT);
  }

  @Check("F1")
  public void aFileIsWrittenAsTheUserAskedFor(CheckContext check) {
    if (!check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("the provider does not declare users");
    }
    FileSystem files = check.sandbox().files();
    files.makeFolder("shared", 0777);
    files.changeMode("shared", 0777);
    files.makeFolder("private", 0700);
    FileSystem theirs = files.as(FileUser.of("12345"));
    FileInfo info = theirs.write("shared/file", FileContents.of("x"), DEFAULT);
    Expect.equal(12345L, info.uid(), "the owner of the file");
    Expect.thrown(
        "a write where this user may not",
        () -> theirs.write("private/file", FileContents.of("x"), DEFAULT),
        ErrorCode.PERMISSION_DENIED);
    files.changeOwner("shared/file", "23456:34567");
    Expect.equal(
        23456L, files.stat("shared/file", NOFOLLOW_LINKS).uid(), "the owner after changeOwner");
    Expect.equal(
        34567L, files.stat("shared/file", NOFOLLOW_LINKS).gid(), "the group after changeOwner");
  }

  @Check("F1")
  public void everyCallHasThePermissionsOfTheUserItActsAs(CheckContext check) {
    if (!check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("the provider does not declare users");
    }
    FileSystem files = check.sandbox().files();
    files.makeFolder("shared", 0777);
    files.changeMode("shared", 0777);
    files.write("shared/secret", FileContents.of("secret"), DEFAULT.withMode(0600));
    files.writeText("private/file", "x", UTF_8);
    files.changeMode("private", 0700);
    FileSystem theirs = files.as(FileUser.of("12345"));
    theirs.makeFolder("shared/made", 0755);
    theirs.makeLink("shared/link", "secret");
    for (String path : List.of("shared/made", "shared/link")) {
      Expect.equal(12345L, files.stat(path, NOFOLLOW_LINKS).uid(), "the owner of " + path);
    }
    denied("read", () -> FileContents.text(theirs, "shared/secret"));
    denied("list", () -> theirs.list("private", 1).forEach(entry -> {}));
    denied("stat", () -> theirs.stat("private/file"));
    denied("makeFolder", () -> theirs.makeFolder("private/made", 0755));
    denied("remove", () -> theirs.remove("private/file", false));
    denied("changeMode", () -> theirs.changeMode("shared/secret", 0666));
    denied("changeOwner", () -> theirs.changeOwner("shared/secret", "12345"));
    FileSystem roots = theirs.as(FileUser.rootFor("12345"));
    Expect.equal("secret", FileContents.text(roots, "shared/secret"), "what root reads");
    Expect.equal(
        "secret", FileContents.text(files, "shared/secret"), "what the sandbox's user reads");
  }

  private static void denied(String call, Runnable action) {
    Expect.thrown(call + " without permission", action, ErrorCode.PERMISSION_DENIED);
  }

  @Check("F1")
  public void filesCreatedByRootForAUserBelongToThatUser(CheckContext check) {
    if (!check.info().support().has(SpecFeature.USERS)) {
      throw check.notRun("the provider does not declare users");
    }
    FileSystem files = check.sandbox().files();
    files.makeFolder("locked", 0700);
    long before = files.stat("locked", NOFOLLOW_LINKS).uid();
    FileSystem theirs = files.as(FileUser.rootFor("12345"));
    theirs.write("locked/a/file", FileContents.of("x"), DEFAULT.inPlace());
    theirs.makeFolder("locked/b/c", 0755);
    for (String path : List.of("locked/a", "locked/a/file", "locked/b", "locked/b/c")) {
      Expect.equal(12345L, files.stat(path, NOFOLLOW_LINKS).uid(), "the owner of " + path);
    }
    Expect.equal(
        before, theirs.stat("locked", NOFOLLOW_LINKS).uid(), "the owner of what was there before");
    Expect.thrown(
        "a file for a user that does not exist",
        () -> files.as(FileUser.rootFor("no-such-user")).writeText("locked/file", "x", UTF_8),
        ErrorCode.USER_NOT_FOUND);
  }

  @Check("F2")
  public void statFollowsLinks(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("folder/file", "12345", UTF_8);
    files.makeLink("one", "folder/file");
    files.makeLink("two", "one");
    FileInfo end = files.stat("two");
    Expect.equal(FileType.FILE, end.type(), "what the link leads to");
    Expect.equal(5L, end.size(), "its size");
    Expect.that(
        end.path().endsWith("/folder/file"), "the result has the final path: " + end.path());
    Expect.equal("12345", FileContents.text(files, end.path()), "what is there");
    Expect.equal(FileType.FOLDER, files.stat("folder").type(), "a folder, followed");
    files.makeLink("nowhere", "nothing");
    Expect.thrown(
        "a link that leads nowhere", () -> files.stat("nowhere"), ErrorCode.FILE_NOT_FOUND);
  }

  @Check("F1")
  public void concurrentWritesToOneFileAreNotMixed(CheckContext check) {
    FileSystem files = check.sandbox().files();
    List<Thread> writers = new ArrayList<>();
    List<RuntimeException> failures = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 8; i++) {
      String text = Character.toString('a' + i).repeat(300_000);
      writers.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  files.writeText("one", text, UTF_8);
                } catch (RuntimeException e) {
                  failures.add(e);
                }
              }));
    }
    writers.forEach(FilesChecks::join);
    Expect.equal(List.of(), failures, "the failures");
    String left = FileContents.text(files, "one");
    Expect.equal(left.substring(0, 1).repeat(300_000), left, "the file of the last writer");
    Expect.equal(List.of("one"), FileContents.names(files, "."), "the folder");
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CheckFailed("interrupted while waiting for the writers");
    }
  }
}
