package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks create, state, inventory and destroy. */
public final class LifecycleChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @Check("P2")
  public void createReturnsARunningSandboxWithTheIdOfItsSpec(CheckContext check) {
    SandboxSpec spec = check.spec().build();
    Sandbox sandbox = check.provider().create(spec);
    Expect.equal(spec.id(), sandbox.id(), "the id");
    Expect.equal(SandboxState.RUNNING, sandbox.state(), "the state");
    Expect.equal("here\n", sandbox.run(Command.shell("echo here")).stdout().text(), "the output");
  }

  @Check("P2")
  public void allValidIdsAreAccepted(CheckContext check) {
    for (String shape : List.of("a", "0", "0123456789abcdefghijklmnopqrstuv")) {
      SandboxId id = new SandboxId(shape);
      try {
        Sandbox sandbox =
            check.provider().create(SandboxSpec.builder(id).deadline(TIMEOUT).build());
        Expect.equal(id, sandbox.id(), "the id");
        Expect.that(sandbox.run(Command.argv("true")).succeeded(), "a command runs in " + id);
      } finally {
        check.provider().destroy(id, DestroyOptions.FORCE);
      }
    }
  }

  @Check("P1")
  public void nameIsTheFactorysAndStable(CheckContext check) {
    String name = check.info().name();
    Expect.equal(check.underTest().factory().name(), name, "the name");
    Expect.equal(name, check.anotherProcess().info().name(), "the name in another process");
    Expect.that(name.matches("[a-z0-9-]+"), "the name is lower-case letters, digits, dashes");
  }

  @Check("P9")
  public void healthIsFastAndLeavesNothing(CheckContext check) throws InterruptedException {
    List<SandboxId> before = ids(check.provider());
    for (int i = 0; i < 5; i++) {
      boolean usable =
          ConcurrentCalls.start(() -> check.provider().health().usable())
              .get(TIMEOUT, "health returns");
      Expect.that(usable, "the provider stays usable");
    }
    Expect.equal(before, ids(check.provider()), "the inventory after health");
  }

  @Check("P7")
  public void inventoryShowsTheSandbox(CheckContext check) {
    Instant before = Instant.now().minusSeconds(60);
    Sandbox sandbox = check.sandbox();
    InventoryItem inventoryItem = inventoryItem(check.provider(), sandbox.id()).orElseThrow();
    Expect.equal(SandboxState.RUNNING, inventoryItem.state(), "the state in the inventory");
    Expect.that(
        inventoryItem.createdAt().isAfter(before)
            && inventoryItem.createdAt().isBefore(Instant.now().plusSeconds(60)),
        "it was created just now: " + inventoryItem.createdAt());
  }

  @Check("P7")
  public void inventoryShowsEachSandboxOnce(CheckContext check) {
    List<SandboxId> made =
        Stream.generate(() -> check.create(spec -> spec))
            .limit(3)
            .map(Sandbox::id)
            .sorted()
            .toList();
    Expect.equal(
        made, ids(check.provider()).stream().filter(made::contains).toList(), "the inventory");
  }

  @Check("S1")
  public void filesOfTwoSandboxesAreSeparate(CheckContext check) {
    Sandbox one = check.create(spec -> spec);
    Sandbox other = check.create(spec -> spec);
    one.files().writeText("mine", "one", UTF_8);
    Expect.that(!other.files().exists("mine"), "the other does not see the file");
    other.files().writeText("mine", "other", UTF_8);
    Expect.equal("one", one.run(Command.shell("cat mine")).stdout().text(), "the first's file");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void commandsOfTwoSandboxesAreSeparate(CheckContext check) {
    Sandbox other = check.create(spec -> spec);
    check.sandbox().start(Command.argv("sleep", "1000").withTag("mine")).close();
    Attaching others = other.as(Attaching.class).orElseThrow();
    Expect.equal(List.of(), others.executions(), "the executions of the other sandbox");
  }

  @Check(value = "P4", basics = BasicFeature.LIVE_STREAMS)
  public void destroyOfOneLeavesTheOthers(CheckContext check) {
    Sandbox other = check.create(spec -> spec);
    check.sandbox().files().writeText("kept", "yes", UTF_8);
    try (Execution running = check.sandbox().start(Command.shell("echo $$; sleep 1000"))) {
      String pid = ExecutionReader.of(running).until("\n").stdout().strip();
      check.provider().destroy(other.id(), DestroyOptions.FORCE);
      Processes.expectAlive(check.sandbox(), pid, "the command in the sandbox that stays");
      Expect.equal("yes", check.output("cat kept"), "the file in the sandbox that stays");
      running.kill();
    }
  }

  @Check("P4")
  public void destroyRemovesItFromTheInventory(CheckContext check) {
    SandboxId id = check.sandbox().id();
    check.provider().destroy(id, DestroyOptions.NORMAL);
    Expect.that(!ids(check.provider()).contains(id), "the inventory does not list it");
    Expect.that(check.provider().attach(id).isEmpty(), "it cannot be attached to");
  }

  @Check("P3")
  public void stateAfterDestroyIsDestroyed(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    Expect.equal(SandboxState.DESTROYED, sandbox.state(), "the state after destroy");
    Expect.equal(sandbox.id().value(), sandbox.id().toString(), "the id after destroy");
  }

  @Check("P5")
  public void afterDestroyNoCommandRuns(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    Expect.gone("run", () -> sandbox.run(Command.argv("true")));
    Expect.gone("start", () -> sandbox.start(Command.shell("echo x")).close());
  }

  @Check("P5")
  public void afterDestroyEveryFileCallFails(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    sandbox.files().writeText("file", "x", UTF_8);
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    Expect.gone("exists", () -> sandbox.files().stat("file", NOFOLLOW_LINKS));
    Expect.gone("readBytes", () -> sandbox.files().readBytes("file", 10));
    Expect.gone("writeText", () -> sandbox.files().writeText("new", "x", UTF_8));
    Expect.gone("list", () -> sandbox.files().list(".", 1).close());
    Expect.gone("makeFolder", () -> sandbox.files().makeFolder("folder", 0755));
    Expect.gone("move", () -> sandbox.files().move("file", "other", true));
    Expect.gone("remove", () -> sandbox.files().remove("file", false));
    Expect.gone("changeMode", () -> sandbox.files().changeMode("file", 0600));
  }

  @Check(value = "P5", needs = Attaching.class)
  public void afterDestroyCapabilitiesFail(CheckContext check) {
    Attaching attaching = check.as(Attaching.class);
    check.provider().destroy(check.sandbox().id(), DestroyOptions.NORMAL);
    Expect.gone("executions", attaching::executions);
  }

  @Check(value = "P4", basics = BasicFeature.LIVE_STREAMS)
  public void destroyEndsRunningCommands(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    Execution running = sandbox.start(Command.shell("echo up; sleep 1000 & sleep 1000"));
    ExecutionReader.of(running).until("up");
    ConcurrentCalls.start(
            () -> {
              check.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
              return "";
            })
        .get(TIMEOUT, "destroy returns although commands run");
    Expect.that(
        ConcurrentCalls.start(() -> ended(running)).get(TIMEOUT, "waiting for its command returns"),
        "the command counts as ended");
    Expect.that(!ids(check.provider()).contains(sandbox.id()), "nothing is left in the inventory");
  }

  @Check("S1")
  public void seedFilesAreThereBeforeTheFirstCommand(CheckContext check) {
    byte[] bytes = {0, 1, 2, (byte) 0xff, '\n', (byte) 0xc3};
    Sandbox sandbox =
        check.create(
            spec ->
                spec.seedFile("plain.txt", Bytes.utf8("hello"))
                    .seedFile("/workspace/deep/er/data", Bytes.of(bytes))
                    .seedFile("empty", Bytes.utf8("")));
    Expect.equal("hello", sandbox.run(Command.shell("cat plain.txt")).stdout().text(), "the text");
    Expect.equal(bytes, sandbox.files().readBytes("deep/er/data", 100), "the bytes");
    Expect.equal(
        0L, sandbox.files().stat("empty", NOFOLLOW_LINKS).size(), "the size of the empty one");
  }

  @Check("S1")
  public void environmentOfTheSpecReachesEveryCommand(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.env("COLOUR", "sea green").env("EMPTY", ""));
    Command show = Command.shell("printf '%s|%s' \"$COLOUR\" \"$EMPTY\"");
    Expect.equal("sea green|", sandbox.run(show).stdout().text(), "the first command's view");
    Expect.equal("sea green|", sandbox.run(show).stdout().text(), "the second command's view");
  }

  @Check("S1")
  public void initRunsBeforeCreateReturns(CheckContext check) {
    Sandbox sandbox =
        check.create(
            spec ->
                spec.seedFile("seed", Bytes.utf8("from seed"))
                    .env("EXTRA", "and env")
                    .init(Command.shell("cat seed > made; echo $EXTRA >> made")));
    Expect.equal(
        "from seedand env\n", sandbox.files().readText("made", UTF_8, 100), "what init made");
  }

  @Check("S1")
  public void cwdOfTheSpecIsWhereCommandsStart(CheckContext check) {
    Sandbox sandbox =
        check.create(
            spec ->
                spec.seedFile("/workspace/sub/here", Bytes.utf8("found")).cwd("/workspace/sub"));
    Expect.equal("found", sandbox.run(Command.shell("cat here")).stdout().text(), "the file");
    sandbox.run(Command.argv("touch", "made"));
    Expect.that(sandbox.files().exists("/workspace/sub/made"), "a command works in the folder");
  }

  @Check("S1")
  public void relativeFilePathsStartAtTheWorkingFolder(CheckContext check) {
    Sandbox sandbox =
        check.create(
            spec ->
                spec.seedFile("/workspace/sub/here", Bytes.utf8("found")).cwd("/workspace/sub"));
    Expect.equal("found", sandbox.files().readText("here", UTF_8, 100), "the relative file");
    sandbox.files().writeText("made", "x", UTF_8);
    Expect.that(sandbox.files().exists("/workspace/sub/made"), "it is written there as well");
  }

  @Check("S1")
  public void workspaceMountNamesTheWorkspace(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.workspaceMount("/box"));
    sandbox.files().writeText("/box/file", "in the box", UTF_8);
    Expect.equal("in the box", sandbox.run(Command.shell("cat file")).stdout().text(), "the file");
    sandbox.run(Command.shell("echo back > answer"));
    Expect.equal("back\n", sandbox.files().readText("/box/answer", UTF_8, 100), "the answer");
  }

  @Check("S1")
  public void callersWorkspaceIsUsedAndKept(CheckContext check) throws IOException {
    Path folder = Files.createTempDirectory("isola-own");
    try {
      Files.writeString(folder.resolve("given"), "by the caller");
      Sandbox sandbox = createOrNotRun(check, folder);
      Expect.equal("by the caller", sandbox.files().readText("given", UTF_8, 100), "the file");
      sandbox.files().write("made", new ByteArrayInputStream(new byte[] {7}), WriteOptions.DEFAULT);
      check.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
      Expect.equal(
          "by the caller", Files.readString(folder.resolve("given")), "the file after destroy");
      Expect.equal(new byte[] {7}, Files.readAllBytes(folder.resolve("made")), "the made file");
    } finally {
      Files.deleteIfExists(folder.resolve("given"));
      Files.deleteIfExists(folder.resolve("made"));
      Files.deleteIfExists(folder);
    }
  }

  @Check(value = "S1", needs = Renewing.class)
  public void ttlEndsTheSandboxWithItsCommands(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.deadline(Duration.ofSeconds(1)));
    Expect.eventually(TIMEOUT, "the sandbox ends at its ttl", () -> isGone(sandbox));
    Expect.that(check.provider().attach(sandbox.id()).isEmpty(), "it cannot be attached to");
    Expect.eventually( // a container engine notices with a delay
        TIMEOUT,
        "the inventory does not show it as running",
        () ->
            inventoryItem(check.provider(), sandbox.id())
                .filter(seen -> seen.state() == SandboxState.RUNNING)
                .isEmpty());
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
    expectNothingLeft(check, sandbox.id());
  }

  @Check(value = "S1", needs = Renewing.class)
  public void renewedSandboxOutlivesItsTtl(CheckContext check) {
    Sandbox sandbox = check.create(spec -> spec.deadline(Duration.ofSeconds(3)));
    sandbox.as(Renewing.class).orElseThrow().renew(Duration.ofMinutes(5));
    Expect.that(
        sandbox.run(Command.argv("sleep", "4")).succeeded(), "a command outlives the first ttl");
    Expect.equal(SandboxState.RUNNING, sandbox.state(), "the state after the first ttl");
  }

  @Check("S1")
  public void withoutLingerItEndsWithItsOwner(CheckContext check) {
    Provider owner = check.anotherProcess();
    SandboxSpec spec = check.spec().linger(Duration.ZERO).build();
    Expect.that(owner.create(spec).run(Command.argv("true")).succeeded(), "it runs with its owner");
    owner.close();
    Expect.eventually(
        TIMEOUT,
        "it does not run without its owner",
        () ->
            inventoryItem(check.provider(), spec.id())
                .filter(seen -> seen.state() == SandboxState.RUNNING)
                .isEmpty());
  }

  private static Sandbox createOrNotRun(CheckContext check, Path folder) {
    try {
      return check.create(spec -> spec.workspacePath(folder));
    } catch (Unsupported | InvalidRequest e) {
      throw check.notRun("no host folder as workspace: " + e.getMessage());
    }
  }

  private static boolean isGone(Sandbox sandbox) {
    try {
      sandbox.run(Command.argv("true"));
      return false;
    } catch (Gone | NotFound e) {
      return true;
    } catch (SandboxException underIt) {
      return false; // the sandbox ended while the command ran; the next call tells
    }
  }

  private static boolean ended(Execution execution) {
    try (execution) {
      execution.await();
    } catch (SandboxException e) {
      return true;
    }
    return true;
  }

  private static void expectNothingLeft(CheckContext check, SandboxId id) {
    Expect.that(inventoryItem(check.provider(), id).isEmpty(), "the inventory does not list it");
    Expect.that(check.provider().attach(id).isEmpty(), "it cannot be attached to");
  }

  private static Optional<InventoryItem> inventoryItem(Provider provider, SandboxId id) {
    return provider.inventory().stream().filter(seen -> seen.id().equals(id)).findAny();
  }

  private static List<SandboxId> ids(Provider provider) {
    return provider.inventory().stream().map(InventoryItem::id).sorted().toList();
  }
}
