package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;

/** Checks repeated calls. */
public final class IdempotencyChecks {

  @Check("P2")
  public void createTwiceGivesTheSameSandbox(CheckContext check) {
    SandboxSpec spec = check.spec().init(Command.shell("echo init >> log")).build();
    Sandbox first = check.provider().create(spec);
    first.files().writeText("mark", "first", UTF_8);
    Sandbox second = check.provider().create(spec);
    Expect.equal(first.id(), second.id(), "the id");
    Expect.equal("first", second.files().readText("mark", UTF_8, 100), "the file");
    Expect.equal("init\n", second.files().readText("log", UTF_8, 100), "what init left");
    Expect.equal(
        1L, countInInventory(check.provider(), spec.id()), "how often the inventory shows it");
  }

  @Check(value = "P2", basics = BasicFeature.LIVE_STREAMS)
  public void createAgainLeavesRunningCommandsAlone(CheckContext check) {
    SandboxSpec spec = check.spec().build();
    Sandbox sandbox = check.provider().create(spec);
    try (Execution execution = sandbox.start(Command.shell("echo $$; sleep 1000"))) {
      String pid = ExecutionReader.of(execution).until("\n").stdout().strip();
      Processes.expectAlive(
          check.provider().create(spec), pid, "the command after the second create");
      Expect.that(execution.await(Duration.ofMillis(1)).isEmpty(), "its handle stays usable");
      execution.kill();
    }
  }

  @Check("P2")
  public void createAfterDestroyMakesANewSandbox(CheckContext check) {
    SandboxSpec spec = check.spec().build();
    Sandbox old = check.provider().create(spec);
    old.files().writeText("old", "x", UTF_8);
    check.provider().destroy(spec.id(), DestroyOptions.NORMAL);
    Sandbox fresh = check.provider().create(spec);
    Expect.that(!fresh.files().exists("old"), "files of the old sandbox are gone");
    Expect.that(fresh.run(Command.argv("true")).succeeded(), "commands run in it");
  }

  @Check("P4")
  public void destroyThreeTimesSucceeds(CheckContext check) {
    SandboxId id = check.sandbox().id();
    check.provider().destroy(id, DestroyOptions.NORMAL);
    check.provider().destroy(id, DestroyOptions.NORMAL);
    check.provider().destroy(id, DestroyOptions.FORCE);
    Expect.equal(0L, countInInventory(check.provider(), id), "how often the inventory shows it");
  }

  @Check("P4")
  public void destroyOfAnUnknownSandboxSucceeds(CheckContext check) {
    SandboxId never = check.spec().build().id();
    check.provider().destroy(never, DestroyOptions.NORMAL);
    check.provider().destroy(never, DestroyOptions.FORCE);
    Expect.that(check.provider().attach(never).isEmpty(), "there is still no such sandbox");
  }

  @Check("P7")
  public void attachTwiceGivesTheSameSandbox(CheckContext check) {
    check.sandbox().files().writeText("mark", "here", UTF_8);
    for (int i = 0; i < 3; i++) {
      Sandbox again = check.provider().attach(check.sandbox().id()).orElseThrow();
      Expect.equal("here", again.files().readText("mark", UTF_8, 100), "the file");
    }
    Expect.equal("here", check.output("cat mark"), "the file as the first handle sees it");
  }

  @Check("P8")
  public void infoHealthAndInventoryAreTheSameTwice(CheckContext check) {
    check.sandbox();
    Expect.equal(check.provider().info(), check.provider().info(), "info");
    Expect.equal(check.provider().health(), check.provider().health(), "health");
    Expect.equal(check.provider().inventory(), check.provider().inventory(), "the inventory");
  }

  @Check("X8")
  public void signalAndKillAfterTheEndAreSilent(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("exit 6"))) {
      Exit exit = execution.await();
      execution.signal(Signal.TERM);
      execution.signal(Signal.KILL);
      execution.kill();
      execution.kill();
      Expect.equal(new Exit.Exited(6), exit, "the exit");
      Expect.equal(exit, execution.await(), "the exit after the signals");
    }
  }

  @Check("X8")
  public void killTwiceSucceeds(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.argv("sleep", "1000"))) {
      execution.kill();
      execution.kill();
      Expect.equal(new Exit.Signaled(Signal.KILL), execution.await(), "the exit");
    }
  }

  @Check("X1")
  public void awaitRepeatedGivesTheSameExit(CheckContext check) {
    try (Execution execution = check.sandbox().start(Command.shell("echo x; exit 9"))) {
      for (int i = 0; i < 3; i++) {
        Expect.equal(new Exit.Exited(9), execution.await(), "await number " + i);
      }
      Expect.equal(
          new Exit.Exited(9),
          execution.await(Duration.ofSeconds(1)).orElseThrow(),
          "await with a timeout");
    }
  }

  @Check("X8")
  public void closeRepeatedIsSilent(CheckContext check) throws IOException {
    Execution execution = check.sandbox().start(Command.argv("cat").withStdin());
    execution.stdin().close();
    execution.stdin().close();
    execution.await();
    execution.close();
    execution.close();
    Expect.equal("fine\n", check.output("echo fine"), "the next command");
  }

  @Check("P13")
  public void closingAProviderTwiceIsSilent(CheckContext check) {
    Provider other = check.anotherProcess();
    Expect.equal(check.info().name(), other.info().name(), "its name");
    other.close();
    other.close();
    Expect.equal("fine\n", check.output("echo fine"), "a command through the first provider");
  }

  @Check("F1")
  public void makeFolderTwiceSucceeds(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.makeFolder("a/b/c", 0755);
    files.writeText("a/b/c/file", "kept", UTF_8);
    files.makeFolder("a/b/c", 0755);
    Expect.equal(FileType.FOLDER, files.stat("a/b/c", NOFOLLOW_LINKS).type(), "what it is");
    Expect.equal("kept", files.readText("a/b/c/file", UTF_8, 100), "the file in it");
  }

  @Check("F1")
  public void removeOfAMissingFileIsNotFoundEachTime(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("once", "x", UTF_8);
    files.remove("once", false);
    for (int i = 0; i < 3; i++) {
      Expect.thrown("remove", () -> files.remove("once", false), ErrorCode.FILE_NOT_FOUND);
    }
  }

  @Check("F1")
  public void sameWriteTwiceLeavesTheSameFile(CheckContext check) {
    FileSystem files = check.sandbox().files();
    files.writeText("file", "content", UTF_8);
    files.writeText("file", "content", UTF_8);
    Expect.equal("content", files.readText("file", UTF_8, 100), "the file");
    try (var entries = files.list(".", 1)) {
      Expect.equal(1L, entries.count(), "how many files there are");
    }
  }

  @Check(value = "S1", needs = Renewing.class)
  public void renewTwiceSucceeds(CheckContext check) {
    Renewing renewing = check.as(Renewing.class);
    renewing.renew(Duration.ofMinutes(5));
    renewing.renew(Duration.ofMinutes(5));
    Expect.equal("fine\n", check.output("echo fine"), "a command after renewing twice");
  }

  private static long countInInventory(Provider provider, SandboxId id) {
    return provider.inventory().stream().filter(seen -> seen.id().equals(id)).count();
  }
}
