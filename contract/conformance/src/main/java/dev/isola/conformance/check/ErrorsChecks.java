package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Checks that calls throw only SandboxException, with a remedy. */
public final class ErrorsChecks {

  @Check("E1")
  public void everyErrorIsComplete(CheckContext check) {
    Instant before = Instant.now();
    mistakes(check.sandbox())
        .forEach(
            (what, mistake) -> {
              SandboxException e = Expect.thrown(what, mistake.call(), SandboxException.class);
              Expect.equal(e.code().category(), e.category(), "the category of " + what);
              Expect.that(!e.fault().problem().isBlank(), what + " says what happened");
              Expect.recent(before, e.at(), "the time of " + what);
            });
  }

  @Check("E1")
  public void everyInvalidCallHasItsCode(CheckContext check) {
    mistakes(check.sandbox()).forEach((what, one) -> Expect.thrown(what, one.call(), one.code()));
  }

  @Check("E2")
  public void everyErrorSaysWhatToDoNext(CheckContext check) {
    mistakes(check.sandbox())
        .forEach(
            (what, mistake) -> {
              SandboxException e = Expect.thrown(what, mistake.call(), SandboxException.class);
              Expect.that(!e.fault().remedy().isBlank(), what + " says what to do: " + e);
              Expect.that(!e.fault().problem().endsWith("."), what + " has no full stop: " + e);
            });
  }

  @Check("E2")
  public void everyErrorNamesTheThing(CheckContext check) {
    mistakes(check.sandbox())
        .forEach(
            (what, mistake) -> {
              SandboxException e = Expect.thrown(what, mistake.call(), SandboxException.class);
              Expect.contains(e.fault().problem(), mistake.name(), "the message of " + what);
            });
  }

  @Check("E1")
  public void everyErrorNamesTheSandbox(CheckContext check) {
    mistakes(check.sandbox())
        .forEach(
            (what, mistake) -> {
              SandboxException e = Expect.thrown(what, mistake.call(), SandboxException.class);
              Expect.equal(
                  Optional.of(check.sandbox().id()), e.sandbox(), "the sandbox of " + what);
            });
  }

  @Check("E2")
  public void invalidCallsHaveCategoryCaller(CheckContext check) {
    mistakes(check.sandbox())
        .forEach(
            (what, mistake) -> {
              SandboxException e = Expect.thrown(what, mistake.call(), SandboxException.class);
              Expect.equal(Category.CALLER, e.category(), "the category of " + what);
            });
  }

  @Check("E1")
  public void errorsAfterDestroyNameTheSandbox(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    SandboxException e = Expect.gone("run", () -> sandbox.run(Command.argv("true")));
    Expect.that(
        e.code() == ErrorCode.SANDBOX_DESTROYED || e.code() == ErrorCode.SANDBOX_NOT_FOUND,
        "the code is about the sandbox: " + e.code());
    Expect.equal(Optional.of(sandbox.id()), e.sandbox(), "the sandbox");
    Expect.that(!e.fault().remedy().isBlank(), "the error has a remedy");
    SandboxException file = Expect.gone("stat", () -> sandbox.files().stat("file", NOFOLLOW_LINKS));
    Expect.that(
        file.code() != ErrorCode.FILE_NOT_FOUND,
        "the error of a file call is about it as well: " + file);
  }

  @Check("E1")
  public void unusualPathsThrowOnlySandboxExceptions(CheckContext check) {
    FileSystem files = check.sandbox().files();
    for (String path : strangePaths()) {
      contained("stat", path, () -> files.stat(path, NOFOLLOW_LINKS));
      contained("read", path, () -> read(files, path));
      contained("write", path, () -> files.writeText(path, "x", UTF_8));
      contained("list", path, () -> files.list(path, 1).close());
      contained("glob", path, () -> files.glob(path, "*").close());
      contained("makeFolder", path, () -> files.makeFolder(path, 0755));
      contained("move from", path, () -> files.move(path, "target", false));
      contained("move to", path, () -> files.move("no such file", path, false));
      contained("changeMode", path, () -> files.changeMode(path, 0755));
      contained("makeLink", path, () -> files.makeLink(path, "target"));
      contained("attributes", path, () -> files.attributes(path));
      contained("remove", path, () -> files.remove(path, false));
    }
    Expect.equal("fine\n", check.output("echo fine"), "a command afterwards");
  }

  @Check("E1")
  public void unusualCommandsThrowOnlySandboxExceptions(CheckContext check) {
    for (String word : List.of(" ", ".", "..", "/", "/workspace", "a/b", "x".repeat(5_000), "-")) {
      contained("program", word, () -> check.run(Command.argv(word)));
      contained("cwd", word, () -> check.run(Command.argv("true").withCwd(word)));
    }
    contained("user", "", () -> check.run(Command.argv("true").withUser("")));
    contained("user", ":", () -> check.run(Command.argv("true").withUser(":")));
    contained("user", "-1", () -> check.run(Command.argv("true").withUser("-1")));
    contained("arg", "3 MB", () -> check.run(Command.argv("true", "x".repeat(3_000_000))));
    Expect.equal("fine\n", check.output("echo fine"), "a command afterwards");
  }

  @Check("E1")
  public void unusualNumbersThrowOnlySandboxExceptions(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "content", UTF_8);
    contained("list", "depth -1", () -> files.list(".", -1).close());
    contained("changeMode", "-1", () -> files.changeMode("file", -1));
    contained("changeMode", "a million", () -> files.changeMode("file", 1_000_000));
    contained("makeFolder", "-1", () -> files.makeFolder("folder", -1));
    contained("read", "far beyond", () -> read(files, "file", new ReadRange(1L << 62, 10)));
    contained(
        "changeOwner", "no-such-user-here", () -> files.changeOwner("file", "no-such-user-here"));
    Expect.equal("fine\n", check.output("echo fine"), "a command afterwards");
  }

  @Check(value = "E1", needs = Attaching.class)
  public void unusualExecutionIdsThrowOnlySandboxExceptions(CheckContext check) {
    Attaching attaching = check.as(Attaching.class);
    for (String id : List.of("-1", "x", "18446744073709551616", "_".repeat(64))) {
      SandboxException e =
          Expect.thrown(
              "attach to " + id,
              () -> attaching.attach(new ExecutionId(id), 0).close(),
              ErrorCode.EXECUTION_NOT_FOUND);
      Expect.equal(Optional.of(check.sandbox().id()), e.sandbox(), "the sandbox");
    }
    Expect.equal("fine\n", check.output("echo fine"), "a command afterwards");
  }

  @Check("E2")
  public void errorsDoNotShowTheEnvironment(CheckContext check) {
    Command command =
        Command.argv("no-such-program-of-isola").withEnv("TOKEN", "canary-2f1b9c-in-the-mine");
    SandboxException e =
        Expect.thrown("run", () -> check.run(command), ErrorCode.COMMAND_NOT_FOUND);
    Expect.that(
        !(e + e.context().toString()).contains("canary-2f1b9c"),
        "the error does not show the value of a variable: " + e);
  }

  @Check("P12")
  public void unsupportedFeaturesAreRejectedByName(CheckContext check) {
    Map<String, UnaryOperator<SandboxSpec.Builder>> wishes = unsupported(check);
    if (wishes.isEmpty()) {
      throw check.notRun("the provider supports every feature of a spec");
    }
    wishes.forEach(
        (name, wish) -> {
          SandboxSpec spec = wish.apply(check.spec()).build();
          SandboxException e =
              Expect.thrown(name, () -> check.provider().create(spec), Unsupported.class);
          Expect.equal(ErrorCode.NOT_IMPLEMENTED, e.code(), "the code");
          Expect.contains(e.fault().problem().toLowerCase(Locale.ROOT), name, "the message");
          Expect.equal(check.info().name(), e.context().get("provider"), "the provider it names");
          Expect.that(
              check.provider().inventory().stream()
                  .map(InventoryItem::id)
                  .noneMatch(spec.id()::equals),
              "nothing is left");
        });
  }

  @Check("E2")
  public void missingHostFolderIsNamed(CheckContext check) {
    Path missing = Path.of("/no/such/folder/of/isola");
    SandboxSpec spec = check.spec().workspacePath(missing).build();
    try {
      check.provider().create(spec);
    } catch (Unsupported e) {
      throw check.notRun("no host folder as workspace: " + e.getMessage());
    } catch (InvalidRequest e) {
      Expect.equal(ErrorCode.INVALID_SPEC, e.code(), "the code");
      Expect.contains(e.fault().problem(), missing.toString(), "the message");
      Expect.contains(e.fault().problem(), "workspacePath", "the message");
      return;
    }
    throw new CheckFailed("create accepted a missing workspace");
  }

  /**
   * A call that must fail.
   *
   * @param name the text that the message must contain
   */
  private record Mistake(ErrorCode code, String name, Runnable call) {}

  private static Map<String, Mistake> mistakes(Sandbox sandbox) {
    FileSystem files = sandbox.files();
    files.writeText("file", "x", UTF_8);
    files.writeText("folder/inner", "x", UTF_8);
    Map<String, Mistake> all = new LinkedHashMap<>();
    all.put("stat of a missing file", missing("gone", () -> files.stat("gone", NOFOLLOW_LINKS)));
    all.put("read of a missing file", missing("gone", () -> read(files, "gone")));
    all.put("list of a missing folder", missing("gone", () -> files.list("gone", 1).close()));
    all.put("move of a missing file", missing("gone", () -> files.move("gone", "to", false)));
    all.put("chmod of a missing file", missing("gone", () -> files.changeMode("gone", 0600)));
    all.put("remove of a missing file", missing("gone", () -> files.remove("gone", true)));
    all.put(
        "read of a folder",
        new Mistake(ErrorCode.IS_A_FOLDER, "folder", () -> read(files, "folder")));
    all.put(
        "write to a folder",
        new Mistake(ErrorCode.IS_A_FOLDER, "folder", () -> files.writeText("folder", "x", UTF_8)));
    all.put(
        "list of a file",
        new Mistake(ErrorCode.NOT_A_FOLDER, "file", () -> files.list("file", 1).close()));
    all.put(
        "file beneath a file",
        new Mistake(ErrorCode.NOT_A_FOLDER, "file", () -> files.writeText("file/x", "x", UTF_8)));
    all.put(
        "move onto a file",
        new Mistake(
            ErrorCode.FILE_EXISTS, "file", () -> files.move("folder/inner", "file", false)));
    all.put(
        "exclusive write",
        new Mistake(ErrorCode.FILE_EXISTS, "file", () -> writeOnlyNew(files, "file")));
    all.put(
        "remove of a full folder",
        new Mistake(ErrorCode.FOLDER_NOT_EMPTY, "folder", () -> files.remove("folder", false)));
    all.put(
        "unknown program",
        new Mistake(
            ErrorCode.COMMAND_NOT_FOUND,
            "isola-nothing",
            () -> sandbox.run(Command.argv("isola-nothing"))));
    all.put(
        "missing cwd",
        new Mistake(
            ErrorCode.INVALID_REQUEST,
            "nowhere",
            () -> sandbox.run(Command.argv("true").withCwd("/workspace/nowhere"))));
    return all;
  }

  private static Mistake missing(String name, Runnable call) {
    return new Mistake(ErrorCode.FILE_NOT_FOUND, name, call);
  }

  private static List<String> strangePaths() {
    return List.of(
        "",
        "/",
        ".",
        "..",
        "//",
        "a\0b",
        "\0",
        " ",
        "\n",
        "x".repeat(300),
        "x/".repeat(3_000),
        "../".repeat(100) + "isola-no-such-name",
        "/proc/self/environ",
        "\u65e5\u672c/\ud83e\udd8a",
        "\ud800");
  }

  private static Map<String, UnaryOperator<SandboxSpec.Builder>> unsupported(CheckContext check) {
    Map<String, UnaryOperator<SandboxSpec.Builder>> wishes = new LinkedHashMap<>();
    if (!check.info().support().has(SpecFeature.IMAGES)) {
      wishes.put("image", spec -> spec.image("debian:stable"));
    }
    for (NetworkMode mode : NetworkMode.values()) {
      if (!check.info().support().networkModes().contains(mode)) {
        wishes.put(mode.name().toLowerCase(Locale.ROOT), spec -> spec.network(Network.of(mode)));
      }
    }
    if (!check.info().support().volumeTypes().contains(VolumeMount.Type.TMPFS)) {
      wishes.put(
          "tmpfs",
          spec ->
              spec.volume(
                  new VolumeMount(VolumeMount.Type.TMPFS, "", "/workspace/scratch", false)));
    }
    return wishes;
  }

  /** The call may succeed or fail, but only with a SandboxException that is not a bug. */
  private static void contained(String what, String with, Runnable call) {
    String shown = with.length() > 40 ? with.substring(0, 40) + "..." : with;
    try {
      call.run();
    } catch (SandboxException e) {
      Expect.that(
          e.category() != Category.BUG,
          what + " with '" + shown + "' is not an internal error: " + e);
    } catch (RuntimeException e) {
      throw new CheckFailed(what + " with '" + shown + "' threw " + e);
    }
  }

  private static void read(FileSystem files, String path) {
    read(files, path, ReadRange.ALL);
  }

  private static void read(FileSystem files, String path, ReadRange range) {
    try (InputStream in = files.read(path, range)) {
      in.readNBytes(10);
    } catch (IOException e) {
      throw new CheckFailed("reading " + path + " threw " + e);
    }
  }

  private static void writeOnlyNew(FileSystem files, String path) {
    files.write(path, new ByteArrayInputStream(new byte[1]), WriteOptions.DEFAULT.onlyNew());
  }
}
