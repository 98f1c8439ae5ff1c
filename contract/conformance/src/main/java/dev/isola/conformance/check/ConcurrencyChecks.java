package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.provider.BasicFeature;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks concurrent calls. */
public final class ConcurrencyChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int MANY = 8;

  @Check("X1")
  public void outputsOfConcurrentCommandsAreNotMixed(CheckContext check)
      throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    ConcurrentCalls.all(
        MANY,
        thread -> {
          for (int i = 0; i < 10; i++) {
            String mine = thread + "-" + i;
            ExecResult result =
                sandbox.run(Command.shell("seq 1 200; echo " + mine + "; echo e" + mine + " >&2"));
            Expect.equal(692L + mine.length() + 1, result.stdout().total(), "the count");
            Expect.that(
                result.stdout().text().endsWith("\n200\n" + mine + "\n"),
                "stdout is that of the command");
            Expect.equal("e" + mine + "\n", result.stderr().text(), "stderr");
          }
          return thread;
        });
  }

  @Check("X5")
  public void concurrentFloodsAreCountedExactly(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    int size = 5 * 1024 * 1024;
    List<Long> counts =
        ConcurrentCalls.all(
            MANY,
            number ->
                sandbox
                    .run(
                        Command.shell("head -c " + (size + number) + " /dev/zero"),
                        new OutputLimit(10, 10))
                    .stdout()
                    .total());
    Expect.equal(
        IntStream.range(0, MANY).mapToObj(number -> (long) size + number).toList(),
        counts,
        "the counts");
  }

  @Check("P2")
  public void concurrentCreatesMakeDistinctSandboxes(CheckContext check)
      throws InterruptedException {
    List<SandboxSpec> specs = Stream.generate(() -> check.spec().build()).limit(MANY).toList();
    List<String> contents =
        ConcurrentCalls.all(
            MANY,
            number -> {
              Sandbox sandbox = check.provider().create(specs.get(number));
              sandbox.files().writeText("me", sandbox.id().value(), UTF_8);
              return sandbox.run(Command.shell("cat me")).stdout().text();
            });
    Expect.equal(specs.stream().map(spec -> spec.id().value()).toList(), contents, "their files");
    Expect.equal(MANY, new HashSet<>(contents).size(), "the number of sandboxes");
  }

  @Check("P2")
  public void concurrentCreatesOfOneIdMakeOneSandbox(CheckContext check)
      throws InterruptedException {
    SandboxSpec spec = check.spec().init(Command.shell("echo init >> log")).build();
    List<String> logs =
        ConcurrentCalls.all(
            MANY, number -> check.provider().create(spec).files().readText("log", UTF_8, 1000));
    Expect.equal(Collections.nCopies(MANY, "init\n"), logs, "the init log as seen by each handle");
    List<Sandbox> handles = ConcurrentCalls.all(MANY, number -> check.provider().create(spec));
    handles.getFirst().files().writeText("mark", "one", UTF_8);
    for (Sandbox handle : handles) {
      Expect.that(handle.files().exists("mark"), "all handles see the file");
    }
    Expect.equal(
        1L,
        check.provider().inventory().stream().filter(seen -> seen.id().equals(spec.id())).count(),
        "how often the inventory shows it");
  }

  @Check("P4")
  public void concurrentDestroysAllSucceed(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    sandbox.start(Command.shell("sleep 1000 & sleep 1000")).close();
    ConcurrentCalls.all(
        MANY,
        number -> {
          check
              .provider()
              .destroy(
                  sandbox.id(), number % 2 == 0 ? DestroyOptions.NORMAL : DestroyOptions.FORCE);
          return number;
        });
    expectNotListed(check, sandbox.id());
  }

  @Check("P4")
  public void concurrentDestroysFromTwoProcessesAllSucceed(CheckContext check)
      throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    var other = check.anotherProcess();
    ConcurrentCalls.all(
        4,
        number -> {
          (number % 2 == 0 ? check.provider() : other).destroy(sandbox.id(), DestroyOptions.FORCE);
          return number;
        });
    expectNotListed(check, sandbox.id());
  }

  @Check("P4")
  public void destroyDuringACommandEndsItsCall(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    ConcurrentCalls.Call<String> call =
        ConcurrentCalls.start(() -> ending(sandbox, Command.shell("touch up; sleep 1000")));
    Expect.eventually(TIMEOUT, "the command runs", () -> sandbox.files().exists("up"));
    check.provider().destroy(sandbox.id(), DestroyOptions.FORCE);
    String how = call.get(TIMEOUT, "run returns when its sandbox is destroyed");
    Expect.that(!how.equals("succeeded"), "the call does not report success");
  }

  @Check("P4")
  public void concurrentCreateAndDestroyLeaveAValidState(CheckContext check)
      throws InterruptedException {
    SandboxSpec spec = check.spec().build();
    for (int round = 0; round < 5; round++) {
      ConcurrentCalls.all(
          4,
          number -> {
            try {
              if (number % 2 == 0) {
                check.provider().create(spec);
              } else {
                check.provider().destroy(spec.id(), DestroyOptions.FORCE);
              }
            } catch (SandboxException lostTheRace) {
              return lostTheRace.code().toString();
            }
            return "";
          });
      Sandbox sandbox = check.provider().create(spec);
      Expect.that(sandbox.run(Command.argv("true")).succeeded(), "create after the race works");
      check.provider().destroy(spec.id(), DestroyOptions.FORCE);
      expectNotListed(check, spec.id());
    }
  }

  @Check("P7")
  public void inventoryIsCompleteDuringCreatesAndDestroys(CheckContext check)
      throws InterruptedException {
    SandboxId stays = check.sandbox().id();
    List<SandboxSpec> specs = Stream.generate(() -> check.spec().build()).limit(4).toList();
    ConcurrentCalls.all(
        8,
        number -> {
          for (int i = 0; i < 5; i++) {
            if (number < 4) {
              check.provider().create(specs.get(number));
              check.provider().destroy(specs.get(number).id(), DestroyOptions.FORCE);
            } else {
              Expect.that(
                  check.provider().inventory().stream()
                      .map(InventoryItem::id)
                      .anyMatch(stays::equals),
                  "the inventory always shows the sandbox that stays");
            }
          }
          return number;
        });
  }

  @Check("F1")
  public void readersSeeOnlyWholeFiles(CheckContext check) throws InterruptedException {
    FileSystem files = check.sandbox().files();
    files.writeText("shared", content(0), UTF_8);
    ConcurrentCalls.all(
        MANY,
        number -> {
          for (int i = 0; i < 15; i++) {
            if (number < MANY / 2) {
              files.writeText("shared", content(number), UTF_8);
            } else {
              String seen = files.readText("shared", UTF_8, 1_000_000);
              Expect.equal(content(seen.charAt(0) - 'a'), seen, "what a reader saw");
            }
          }
          return number;
        });
    try (Stream<FileInfo> left = files.list(".", 1)) {
      Expect.equal(List.of("shared"), left.map(FileInfo::name).toList(), "the files that are left");
    }
  }

  @Check("F1")
  public void listingToleratesConcurrentChanges(CheckContext check) throws InterruptedException {
    FileSystem files = check.sandbox().files();
    files.writeText("folder/stays", "x", UTF_8);
    ConcurrentCalls.all(
        MANY,
        number -> {
          for (int i = 0; i < 10; i++) {
            if (number < MANY / 2) {
              files.writeText("folder/comes-" + number, "x", UTF_8);
              files.remove("folder/comes-" + number, false);
            } else {
              try (Stream<FileInfo> entries = files.list("folder", 1)) {
                Expect.that(
                    entries.anyMatch(entry -> entry.name().equals("stays")),
                    "the list shows the file that stays");
              }
            }
          }
          return number;
        });
  }

  @Check("X5")
  public void longCommandsDoNotBlockShortOnes(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    List<Execution> running =
        Stream.generate(() -> sandbox.start(Command.argv("cat").withStdin())).limit(20).toList();
    for (int i = 0; i < 10; i++) {
      ExecResult result = sandbox.run(Command.shell("echo " + i).withTimeout(TIMEOUT));
      Expect.equal(i + "\n", result.stdout().text(), "a short command's output");
    }
    for (Execution one : running) {
      Expect.that(one.await(Duration.ofMillis(1)).isEmpty(), "a long command still runs");
      one.kill();
      one.close();
    }
  }

  @Check(value = "X5", basics = BasicFeature.LIVE_STREAMS)
  public void unreadOutputDoesNotBlockOtherCommands(CheckContext check) {
    Sandbox sandbox = check.sandbox();
    try (Execution flood = sandbox.start(Command.shell("while true; do echo flood; done"))) {
      ExecutionReader.of(flood).until("flood");
      for (int i = 0; i < 5; i++) {
        ExecResult result = sandbox.run(Command.shell("seq 1 1000").withTimeout(TIMEOUT));
        Expect.equal(3893L, result.stdout().total(), "another command's output");
      }
      sandbox.files().writeText("file", "x", UTF_8);
      flood.kill();
    }
  }

  @Check("X5")
  public void stdinOfManyCommandsIsNotMixed(CheckContext check) throws InterruptedException {
    Sandbox sandbox = check.sandbox();
    ConcurrentCalls.all(
        MANY,
        number -> {
          try (Execution execution = sandbox.start(Command.argv("cat").withStdin())) {
            String mine = (number + " ").repeat(20_000);
            execution.stdin().write(mine.getBytes(UTF_8));
            execution.stdin().close();
            Expect.equal(mine, ExecutionReader.of(execution).toEnd().stdout(), "what came back");
          } catch (IOException e) {
            throw new CheckFailed("writing to stdin threw " + e);
          }
          return number;
        });
  }

  private static String ending(Sandbox sandbox, Command command) {
    try {
      Exit exit = sandbox.run(command).exit();
      return exit.equals(new Exit.Exited(0)) ? "succeeded" : exit.toString();
    } catch (SandboxException e) {
      return e.code().toString();
    }
  }

  private static String content(int letter) {
    return Character.toString('a' + letter).repeat(200_000);
  }

  private static void expectNotListed(CheckContext check, SandboxId id) {
    Expect.that(
        check.provider().inventory().stream().map(InventoryItem::id).noneMatch(id::equals),
        "the inventory does not list " + id);
  }
}
