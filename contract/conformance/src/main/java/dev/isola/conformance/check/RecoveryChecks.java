package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Checks that another process finds sandboxes and executions again. */
public final class RecoveryChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @Check("P7")
  public void anotherProcessSeesItInItsInventory(CheckContext check) {
    InventoryItem ours = inventoryItem(check.provider(), check.sandbox().id()).orElseThrow();
    InventoryItem theirs =
        inventoryItem(check.anotherProcess(), check.sandbox().id())
            .orElseThrow(() -> new CheckFailed("another process does not see the sandbox"));
    Expect.equal(SandboxState.RUNNING, theirs.state(), "the state in the other process");
    Expect.equal(ours.createdAt(), theirs.createdAt(), "the creation time");
  }

  @Check("P7")
  public void anotherProcessAttachesAndFindsTheFiles(CheckContext check) {
    check.sandbox().files().writeText("folder/mark", "from the first", UTF_8);
    Sandbox again = attached(check.anotherProcess(), check.sandbox().id());
    Expect.equal(check.sandbox().id(), again.id(), "the id");
    Expect.equal(SandboxState.RUNNING, again.state(), "the state");
    Expect.equal(
        "from the first", again.run(Command.shell("cat folder/mark")).stdout().text(), "the file");
    again.files().writeText("answer", "from the other", UTF_8);
    Expect.equal("from the other", check.output("cat answer"), "the file the other wrote");
  }

  @Check("S1")
  public void specHoldsInAnotherProcess(CheckContext check) {
    Sandbox sandbox =
        check.create(spec -> spec.env("COLOUR", "green").workspaceMount("/box").cwd("/box"));
    sandbox.files().writeText("/box/here", "x", UTF_8);
    Sandbox again = attached(check.anotherProcess(), sandbox.id());
    Expect.equal(
        "greenx", again.run(Command.shell("printf $COLOUR; cat here")).stdout().text(), "both");
    Expect.that(again.files().exists("/box/here"), "the mount is still called /box");
  }

  @Check("S2")
  public void defaultTimeoutHoldsInAnotherProcess(CheckContext check) throws InterruptedException {
    if (!check.info().support().enforcedLimits().contains(LimitKind.TIMEOUT)) {
      throw check.notRun("the provider does not enforce the spec's timeout");
    }
    ResourceLimits limits = ResourceLimits.DEFAULT.withTimeout(Duration.ofMillis(500));
    SandboxId id = check.create(spec -> spec.limits(limits)).id();
    Sandbox again = attached(check.anotherProcess(), id);
    Expect.that(
        ConcurrentCalls.start(() -> again.run(Command.argv("sleep", "1000")))
            .get(TIMEOUT, "run returns")
            .timedOut(),
        "the command timed out");
  }

  @Check("P2")
  public void createInAnotherProcessGivesTheSameSandbox(CheckContext check) {
    SandboxSpec spec = check.spec().build();
    check.provider().create(spec).files().writeText("mark", "first", UTF_8);
    Sandbox again = check.anotherProcess().create(spec);
    Expect.equal("first", again.files().readText("mark", UTF_8, 100), "the file");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void runningCommandIsReattached(CheckContext check) throws IOException {
    Command command = Command.shell("echo before; read x; echo after $x").withStdin();
    Execution first = check.sandbox().start(command.withTag("survivor"));
    long offset = ExecutionReader.of(first).until("before\n").position();
    Attaching theirs = attaching(check.anotherProcess(), check.sandbox().id());
    ExecutionInfo info =
        theirs.executions().stream()
            .filter(one -> one.tag().equals(Optional.of("survivor")))
            .findAny()
            .orElseThrow(() -> new CheckFailed("another process does not list the command"));
    Expect.equal(first.id(), info.id(), "the id");
    Expect.that(info.running(), "it is running");
    try (Execution again = theirs.attach(info.id(), offset)) {
      again.stdin().write("the other\n".getBytes(UTF_8));
      again.stdin().flush();
      Expect.equal(
          "after the other\n",
          new ExecutionReader(again, offset).toEnd().stdout(),
          "the rest of it");
      Expect.equal(new Exit.Exited(0), again.await(), "the exit");
    }
  }

  @Check(value = "X8", needs = Attaching.class)
  public void commandSurvivesClosingItsProvider(CheckContext check) {
    Provider owner = check.anotherProcess();
    Sandbox sandbox = owner.create(check.spec().build());
    Execution execution = sandbox.start(Command.shell("echo $$; sleep 1000"));
    String pid = ExecutionReader.of(execution).until("\n").stdout().strip();
    owner.close();
    Sandbox again = attached(check.provider(), sandbox.id());
    Processes.expectAlive(again, pid, "the command of the closed provider");
    Expect.that(
        again.as(Attaching.class).orElseThrow().executions().stream()
            .anyMatch(info -> info.id().equals(execution.id()) && info.running()),
        "it is listed as running");
  }

  @Check(value = "X8", needs = Attaching.class)
  public void outputWithoutAnAttachedReaderIsKept(CheckContext check) {
    Provider owner = check.anotherProcess();
    SandboxId id = owner.create(check.spec().build()).id();
    ExecutionId started = startAndLeave(attached(owner, id));
    owner.close();
    Attaching ours = attaching(check.provider(), id);
    Expect.eventually(
        TIMEOUT,
        "the command ends without an attached provider",
        () ->
            ours.executions().stream()
                .anyMatch(info -> info.id().equals(started) && !info.running()));
    try (Execution again = ours.attach(started, 0)) {
      ExecutionReader reading = ExecutionReader.of(again).toEnd();
      Expect.equal("early\nlate\n", reading.stdout(), "all of its output");
      Expect.equal(new Exit.Exited(5), again.await(), "the exit");
    }
  }

  @Check(value = "X4", needs = Attaching.class)
  public void timeoutHoldsAfterTheProviderIsClosed(CheckContext check) {
    Provider owner = check.anotherProcess();
    Sandbox sandbox = owner.create(check.spec().build());
    ExecutionId started =
        sandbox.start(Command.argv("sleep", "1000").withTimeout(Duration.ofSeconds(1))).id();
    owner.close();
    Attaching ours = attaching(check.provider(), sandbox.id());
    Expect.eventually(
        TIMEOUT,
        "the command times out without an attached provider",
        () ->
            ours.executions().stream()
                .anyMatch(
                    info ->
                        info.id().equals(started)
                            && info.exit().filter(Exit.TimedOut.class::isInstance).isPresent()));
  }

  @Check("P7")
  public void closingAProviderLeavesItsSandboxes(CheckContext check) {
    Provider owner = check.anotherProcess();
    SandboxSpec spec = check.spec().build();
    owner.create(spec).files().writeText("mark", "kept", UTF_8);
    owner.close();
    Sandbox again = attached(check.provider(), spec.id());
    Expect.equal("kept", again.files().readText("mark", UTF_8, 100), "the file");
  }

  @Check("P5")
  public void destroyedAndUnknownSandboxesAreNotAttachedTo(CheckContext check) {
    Provider other = check.anotherProcess();
    SandboxId id = check.sandbox().id();
    check.provider().destroy(id, DestroyOptions.NORMAL);
    Expect.that(other.attach(id).isEmpty(), "another process cannot attach to a destroyed sandbox");
    Expect.that(
        inventoryItem(other, id).isEmpty(), "its inventory does not list the destroyed sandbox");
    Expect.that(
        other.attach(check.spec().build().id()).isEmpty(),
        "it cannot attach to an unknown sandbox");
  }

  @Check("P5")
  public void destroyedByAnotherProcessIsGoneForTheFirst(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    Expect.that(sandbox.run(Command.argv("true")).succeeded(), "it works");
    check.anotherProcess().destroy(sandbox.id(), DestroyOptions.NORMAL);
    Expect.gone("run", () -> sandbox.run(Command.argv("true")));
    Expect.gone("stat", () -> sandbox.files().stat(".", NOFOLLOW_LINKS));
    Expect.equal(SandboxState.DESTROYED, sandbox.state(), "the state");
    Expect.that(
        inventoryItem(check.provider(), sandbox.id()).isEmpty(), "the inventory shows nothing");
    check.provider().destroy(sandbox.id(), DestroyOptions.NORMAL);
  }

  @Check("P7")
  public void anotherInstanceNeitherListsNorDestroysIt(CheckContext check) {
    SandboxId id = check.sandbox().id();
    ProviderUnderTest ours = check.underTest();
    ProviderUnderTest theirs =
        new ProviderUnderTest(
            ours.factory(), ours.config(), new InstanceId("somebodyelse"), ours.data());
    try (Provider otherInstance = theirs.open()) {
      Expect.that(
          inventoryItem(otherInstance, id).isEmpty(),
          "the inventory of the other instance does not list the sandbox");
      Expect.that(
          otherInstance.attach(id).isEmpty(), "the other instance cannot attach to the sandbox");
      otherInstance.destroy(id, DestroyOptions.FORCE);
    }
    Expect.equal(
        "fine\n", check.output("echo fine"), "the sandbox after a destroy by the other instance");
    Expect.that(
        inventoryItem(check.provider(), id).isPresent(),
        "the inventory of this instance lists the sandbox");
  }

  private static ExecutionId startAndLeave(Sandbox sandbox) {
    Command command = Command.shell("echo early; sleep 1; echo late; exit 5");
    try (Execution execution = sandbox.start(command)) {
      return execution.id();
    }
  }

  private static Sandbox attached(Provider provider, SandboxId id) {
    return provider
        .attach(id)
        .orElseThrow(() -> new CheckFailed("the sandbox cannot be attached to"));
  }

  private static Attaching attaching(Provider provider, SandboxId id) {
    return attached(provider, id)
        .as(Attaching.class)
        .orElseThrow(() -> new CheckFailed("declared but not implemented: attaching"));
  }

  private static Optional<InventoryItem> inventoryItem(Provider provider, SandboxId id) {
    return provider.inventory().stream().filter(seen -> seen.id().equals(id)).findAny();
  }
}
