package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.conformance.HostilePaths;
import dev.isola.spi.Isolation;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.BasicFeature;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Checks that the file API of a sandbox reads and writes nothing outside it. In a sandbox with its
 * own root file system, the path may resolve to a missing file inside; in one that shares the
 * host's files, the call is rejected. Either way the host file is neither read nor changed.
 */
public final class FileEscapeChecks {
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.PATH_OUTSIDE, ErrorCode.FILE_NOT_FOUND, ErrorCode.PERMISSION_DENIED);
  private static final int GENERATED = 2_000;

  /** Without the agent, every call is a request and a process. */
  private static final int GENERATED_WITHOUT_AGENT = 200;

  /** Runs {@code action}, which must be rejected. */
  private static void refused(String what, Runnable action) {
    SandboxException e = Expect.thrown(what, action, SandboxException.class);
    requireSupported(e);
    Expect.that(REFUSALS.contains(e.code()), what + " is one of " + REFUSALS + ", not " + e);
  }

  /** An operation that the provider lacks proves nothing. */
  private static void requireSupported(SandboxException e) {
    if (e instanceof Unsupported) {
      throw e;
    }
  }

  /** Runs a read, which must be rejected or return a file of the sandbox's own root. */
  private static void unread(HostSecret secret, String what, Supplier<byte[]> reading) {
    byte[] found;
    try {
      found = reading.get();
    } catch (SandboxException e) {
      requireSupported(e);
      Expect.that(REFUSALS.contains(e.code()), what + " is one of " + REFUSALS + ", not " + e);
      return;
    }
    secret.assertNotIn(found, "by " + what);
  }

  /** Runs {@code action}, which must be rejected or affect only the sandbox's own root. */
  private static void harmless(String what, Runnable action) {
    try {
      action.run();
    } catch (SandboxException e) {
      requireSupported(e);
      Expect.that(
          e instanceof InvalidRequest || e instanceof NotFound || e instanceof Conflict,
          what + " is rejected with category CALLER, not with " + e);
    }
  }

  @Check("F4")
  public void absolutePathsOfTheHostAreRefused(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      refused("reading it", () -> FileContents.bytes(files, secret.file()));
      refused("stat", () -> files.stat(secret.file(), NOFOLLOW_LINKS));
      refused("listing its folder", () -> FileContents.names(files, secret.folder()));
      refused("finding it", () -> FileContents.all(files.glob(secret.folder(), "*")));
      refused("packing it", () -> FileContents.all(files.exportTree(secret.folder(), List.of())));
      refused("removing it", () -> files.remove(secret.file(), false));
      refused("moving it in", () -> files.move(secret.file(), "stolen", true));
      refused("changing its mode", () -> files.changeMode(secret.file(), 0777));
      secret.assertUnchanged("calls with its absolute path");
    }
  }

  @Check("F4")
  public void writesToHostPathsDoNotReachTheHost(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      String planted = secret.folder() + "/planted";
      harmless("writing over it", () -> files.writeText(secret.file(), "spoiled", UTF_8));
      harmless(
          "writing over it in place",
          () ->
              files.write(
                  secret.file(), FileContents.of("spoiled"), WriteOptions.DEFAULT.inPlace()));
      harmless(
          "appending to it",
          () ->
              files.write(
                  secret.file(), FileContents.of("spoiled"), WriteOptions.DEFAULT.appending()));
      harmless("a file beside it", () -> files.writeText(planted, "x", UTF_8));
      harmless("a folder beside it", () -> files.makeFolder(planted + "1", 0755));
      harmless("a link beside it", () -> files.makeLink(planted + "2", "secret"));
      files.writeText("mine", "x", UTF_8);
      harmless("a move over it", () -> files.move("mine", secret.file(), true));
      harmless(
          "an archive beside it",
          () ->
              files.importTree(
                  secret.folder(),
                  FileContents.of(new TestArchive().file("planted", "x").end()),
                  TreeLimits.DEFAULT));
      secret.assertUnchanged("writes to its absolute path");
    }
  }

  @Check("F4")
  public void parentPathsDoNotLeadOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("sub", 0755);
    try (HostSecret secret = new HostSecret()) {
      for (int levels = 1; levels <= 20; levels++) {
        String path = secret.climbing(levels);
        for (String from : List.of("", "./", "sub/", "/workspace/", "/workspace/sub/../")) {
          unread(secret, "reading " + from + path, () -> FileContents.bytes(files, from + path));
          harmless("writing " + from + path, () -> files.writeText(from + path, "x", UTF_8));
          harmless("removing " + from + path, () -> files.remove(from + path, true));
        }
      }
      secret.assertUnchanged("paths with ..");
    }
  }

  @Check("F4")
  public void linksToHostFilesAreNotFollowed(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      for (String target : List.of(secret.file(), secret.climbing(12))) {
        files.makeLink("link", target);
        unread(secret, "reading a link to " + target, () -> FileContents.bytes(files, "link"));
        harmless("changing its mode", () -> files.changeMode("link", 0777));
        harmless(
            "appending through it",
            () -> files.write("link", FileContents.of("x"), WriteOptions.DEFAULT.appending()));
        harmless(
            "writing in place through it",
            () -> files.write("link", FileContents.of("x"), WriteOptions.DEFAULT.inPlace()));
        harmless("writing through it", () -> files.writeText("link", "x", UTF_8));
        secret.assertUnchanged("calls through a link to " + target);
        files.remove("link", false);
      }
    }
  }

  @Check("F4")
  public void pathsThroughLinkedFoldersDoNotLeadOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    boolean lost = losesPathsBehindTheRoot(check);
    try (HostSecret secret = new HostSecret()) {
      for (String target : List.of(secret.folder(), "/", secret.climbing(12) + "/..")) {
        if (lost && target.equals("/")) {
          continue;
        }
        files.makeLink("out", target);
        String path = target.equals("/") ? "out" + secret.file() : "out/secret";
        refused("reading " + path, () -> FileContents.bytes(files, path));
        refused("stat of " + path, () -> files.stat(path, NOFOLLOW_LINKS));
        refused("moving " + path, () -> files.move(path, "stolen", true));
        refused("removing " + path, () -> files.remove(path, true));
        harmless("writing " + path, () -> files.writeText(path, "x", UTF_8));
        harmless("a folder there", () -> files.makeFolder(path + "-folder", 0755));
        harmless("a link there", () -> files.makeLink(path + "-link", "x"));
        for (String made : List.of(path, path + "-folder", path + "-link")) {
          harmless("removing " + made, () -> files.remove(made, true));
        }
        secret.assertUnchanged("calls through a folder that is a link to " + target);
        files.remove("out", false);
      }
    }
    if (lost) {
      throw check.notRun(
          "the sandbox's kernel drops the rest of a path after a link to /; other links were"
              + " tried");
    }
  }

  /**
   * Old gVisor versions drop the components after a link to the root. That does not leave the
   * sandbox, and a provider cannot fix it.
   */
  private static boolean losesPathsBehindTheRoot(CheckContext check) {
    if (check.info().isolation() != Isolation.KERNEL) {
      return false;
    }
    FileSystem files = check.sandbox().files();
    files.makeLink("root", "/");
    boolean lost = files.exists("root/no such file");
    files.remove("root", false);
    return lost;
  }

  @Check("F4")
  public void listingAndPackingDoNotFollowLinksOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      files.makeFolder("tree", 0755);
      files.makeLink("tree/file", secret.file());
      files.makeLink("tree/folder", secret.folder());
      Expect.equal(
          List.of("file", "folder"),
          FileContents.below("tree", files.list("tree", 0)),
          "a list of the tree");
      Expect.equal(
          List.of(),
          FileContents.below("tree", files.glob("tree", "**/secret")),
          "a glob in the tree");
      byte[] archive = FileContents.all(files.exportTree("tree", List.of()));
      secret.assertNotIn(archive, "by packing a tree with a link to it");
      for (TestArchive.Entry entry : TestArchive.read(archive)) {
        Expect.that(
            entry.type() != TestArchive.FILE, "nothing is packed as a file: " + entry.name());
      }
      files.remove("tree", true);
      secret.assertUnchanged("removing a tree with links to it");
    }
  }

  @Check("F4")
  public void aSwappedLinkDoesNotLeadOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("inside/secret", "harmless", UTF_8);
    try (HostSecret secret = new HostSecret()) {
      for (int i = 0; i < 20; i++) {
        files.makeLink("new", i % 2 == 0 ? "inside" : secret.folder());
        files.move("new", "x", true);
        if (i % 2 == 0) {
          Expect.equal("harmless", FileContents.text(files, "x/secret"), "the file inside");
        } else {
          unread(secret, "reading after the swap", () -> FileContents.bytes(files, "x/secret"));
          harmless("writing after the swap", () -> files.writeText("x/secret", "no", UTF_8));
        }
      }
      secret.assertUnchanged("swapping a link");
    }
  }

  @Check("F4")
  public void archivesCannotBringHostFilesIn(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      List<byte[]> archives =
          List.of(
              new TestArchive().hardLink("stolen", secret.file()).end(),
              new TestArchive().hardLink("stolen", secret.climbing(12)).end(),
              new TestArchive().link("stolen", secret.file()).end(),
              new TestArchive().link("l", secret.folder()).hardLink("stolen", "l/secret").end());
      for (byte[] archive : archives) {
        harmless(
            "unpacking",
            () -> files.importTree("in", FileContents.of(archive), TreeLimits.DEFAULT));
        if (files.exists("in/stolen")) {
          refused("reading what was unpacked", () -> FileContents.bytes(files, "in/stolen"));
        }
        files.remove("in", true);
      }
      secret.assertUnchanged("unpacking archives with links to it");
    }
  }

  @Check("F4")
  public void archivesCannotWriteToTheHost(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      List<byte[]> archives =
          List.of(
              new TestArchive().file(secret.file(), "spoiled").end(),
              new TestArchive().file(secret.climbing(12), "spoiled").end(),
              new TestArchive().link("l", secret.folder()).file("l/secret", "spoiled").end(),
              new TestArchive().link("l", secret.file()).file("l", "spoiled").end(),
              new TestArchive()
                  .link("l", secret.folder())
                  .folder("l", 0700)
                  .file("l/new", "x")
                  .end());
      for (byte[] archive : archives) {
        harmless(
            "unpacking",
            () -> files.importTree("in", FileContents.of(archive), TreeLimits.DEFAULT));
        secret.assertUnchanged("unpacking an archive that writes to it");
      }
      files.makeLink("target", secret.folder());
      harmless(
          "unpacking into a link",
          () ->
              files.importTree(
                  "target",
                  FileContents.of(new TestArchive().file("planted", "x").end()),
                  TreeLimits.DEFAULT));
      secret.assertUnchanged("unpacking into a link to its folder");
    }
  }

  @Check("F4")
  public void procRootDoesNotLeadOut(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      for (String root : List.of("/proc/self/root", "/proc/1/root", "/proc/self/cwd")) {
        refused("reading through " + root, () -> FileContents.bytes(files, root + secret.file()));
        files.makeLink("link", root + secret.folder());
        refused(
            "reading through a link to " + root, () -> FileContents.bytes(files, "link/secret"));
        files.remove("link", false);
      }
      secret.assertUnchanged("paths through /proc");
    }
  }

  @Check("F4")
  public void generatedHostilePathsReadAndWriteNothing(CheckContext check) {
    FileSystem files = check.sandbox().files();
    try (HostSecret secret = new HostSecret()) {
      files.makeFolder("inside/deep", 0755);
      files.makeLink("out", secret.folder());
      files.makeLink("inside/up", "../..");
      files.makeLink("root", "/");
      files.makeLink("chain", "out");
      HostilePaths paths =
          new HostilePaths(
              42, secret.folder(), "secret", List.of("out", "inside/up", "root", "chain"));
      boolean agent = !check.info().lacks().contains(BasicFeature.LIVE_STREAMS);
      for (int i = 0; i < (agent ? GENERATED : GENERATED_WITHOUT_AGENT); i++) {
        attempt(files, secret, paths.get(), i % 2 == 0);
      }
      secret.assertUnchanged("generated paths");
    }
  }

  private static void attempt(FileSystem files, HostSecret secret, String path, boolean read) {
    try {
      if (read) {
        FileInfo info = files.stat(path, NOFOLLOW_LINKS);
        Expect.that(
            info.type() != FileType.FILE || info.size() != secret.content().length(),
            "stat does not see the secret: " + path);
        secret.assertNotIn(FileContents.bytes(files, path), "by " + path);
      } else {
        files.writeText(path, "spoiled", UTF_8);
      }
    } catch (SandboxException refused) {
      boolean callers =
          refused instanceof InvalidRequest
              || refused instanceof NotFound
              || refused instanceof Conflict;
      Expect.that(callers, "'" + path + "' has category CALLER, not " + refused);
    } catch (CheckFailed e) {
      throw e;
    } catch (RuntimeException e) {
      throw new CheckFailed("'" + path + "' threw " + e + ", which is not a SandboxException");
    }
  }
}
