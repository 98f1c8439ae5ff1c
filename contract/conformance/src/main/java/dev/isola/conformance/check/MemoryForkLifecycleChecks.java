package dev.isola.conformance.check;

import static dev.isola.conformance.check.ForkedFiles.output;
import static dev.isola.conformance.check.MemoryForks.createForkPoint;
import static dev.isola.conformance.check.MemoryForks.fork;

import dev.isola.conformance.Check;
import dev.isola.conformance.CheckContext;
import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Checks the lifecycle of forks of memory and of their fork points, their limits and what is
 * refused.
 */
public final class MemoryForkLifecycleChecks {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void forksCanBeForked(CheckContext check) {
    Sandbox current = check.sandbox();
    ShellVariable variable = ShellVariable.start(current, "generation0");
    List<Sandbox> generations = new ArrayList<>(List.of(current));
    for (int i = 1; i <= 3; i++) {
      current = fork(check, current);
      Expect.equal("generation" + (i - 1), variable.in(current), "the value in fork " + i);
      variable.set(current, "generation" + i);
      generations.add(current);
    }
    for (int i = 0; i < generations.size(); i++) {
      Expect.equal(
          "generation" + i, variable.in(generations.get(i)), "the value in generation " + i);
    }
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void forksOutliveTheSourceTheForkPointAndOneAnother(CheckContext check) {
    ShellVariable variable = ShellVariable.start(check.sandbox(), "kept");
    output(check.sandbox(), "echo kept > file");
    Sandbox one;
    Sandbox two;
    Sandbox three;
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      one = fork(check, forkPoint);
      check.provider().destroy(check.sandbox().id(), DestroyOptions.FORCE);
      two = fork(check, forkPoint);
      three = fork(check, forkPoint);
    }
    for (Sandbox fork : List.of(one, two, three)) {
      expectValue(fork, variable, "kept");
      check.provider().destroy(fork.id(), DestroyOptions.NORMAL);
      Expect.that(check.provider().attach(fork.id()).isEmpty(), "a destroyed fork is gone");
    }
  }

  private static void expectValue(Sandbox sandbox, ShellVariable variable, String value) {
    Expect.equal(value, variable.in(sandbox), "the value in the memory of " + sandbox.id());
    Expect.equal(value + "\n", output(sandbox, "cat file"), "the file in " + sandbox.id());
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void forkPointsAreIndependentOfOneAnother(CheckContext check) {
    Sandbox source = check.sandbox();
    ShellVariable variable = ShellVariable.start(source, "first");
    output(source, "echo first > file");
    try (ForkPoint first = createForkPoint(source)) {
      variable.set(source, "second");
      output(source, "echo second > file");
      try (ForkPoint second = createForkPoint(source)) {
        variable.set(source, "third");
        output(source, "echo third > file");
        expectValue(fork(check, second), variable, "second");
        expectValue(fork(check, first), variable, "first");
      }
      expectValue(fork(check, first), variable, "first");
    }
    expectValue(source, variable, "third");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void createIsIdempotentById(CheckContext check) throws InterruptedException {
    ShellVariable variable = ShellVariable.start(check.sandbox(), "kept");
    SandboxSpec spec = check.spec().build();
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      List<Sandbox> same = ConcurrentCalls.all(2, _ -> forkPoint.create(spec));
      variable.set(same.getFirst(), "changed");
      Expect.equal("changed", variable.in(same.getLast()), "the value in the same fork");
      Expect.equal("changed", variable.in(forkPoint.create(spec)), "the value after one more call");
    }
    Expect.equal(
        1L,
        check.provider().inventory().stream().filter(one -> one.id().equals(spec.id())).count(),
        "the number of sandboxes with this id");
  }

  /** A leak check follows: nothing is left, whichever call comes first. */
  @Check(value = "N4", needs = MemoryForking.class)
  public void destroyDuringAForkLeavesNothing(CheckContext check) throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      Sandbox source = check.create(spec -> spec);
      AtomicReference<SandboxException> failure = new AtomicReference<>();
      var forking =
          ConcurrentCalls.start(
              () -> {
                try {
                  fork(check, source);
                } catch (SandboxException e) {
                  failure.set(e);
                }
                return true;
              });
      Thread.sleep(40L * i);
      check.provider().destroy(source.id(), DestroyOptions.FORCE);
      forking.get(TIMEOUT, "the fork succeeds or fails");
      Expect.that(
          check.provider().attach(source.id()).isEmpty(), "the source is gone: " + failure.get());
    }
  }

  @Check(value = "N4", needs = MemoryForking.class)
  public void anotherSpecIsRefused(CheckContext check) {
    output(check.sandbox(), "echo kept > file");
    ResourceLimits limits = ResourceLimits.DEFAULT;
    try (ForkPoint forkPoint = createForkPoint(check.sandbox())) {
      expectRefused(
          check,
          forkPoint,
          check.spec().limits(limits.withMemoryMb(limits.memoryMb() + 64)),
          "limits");
      expectRefused(check, forkPoint, check.spec().user("1234"), "user");
      expectRefused(check, forkPoint, check.spec().image("kit-other-image"), "image");
      Expect.equal("kept\n", output(fork(check, forkPoint), "cat file"), "a fork afterwards");
    }
    Expect.equal("kept\n", output(check.sandbox(), "cat file"), "the source afterwards");
  }

  private static void expectRefused(
      CheckContext check, ForkPoint forkPoint, SandboxSpec.Builder builder, String field) {
    SandboxSpec spec = builder.build();
    SandboxException refusal =
        Expect.thrownAnyOf(
            "a fork with another value of " + field,
            () -> forkPoint.create(spec),
            List.of(InvalidRequest.class, Conflict.class, Unsupported.class, NotFound.class));
    Expect.contains(
        String.valueOf(refusal.getMessage()).toLowerCase(Locale.ROOT), field, "the error message");
    Expect.that(
        check.provider().inventory().stream().noneMatch(one -> one.id().equals(spec.id())),
        "nothing is left of the fork that was refused for its " + field);
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void removedOpenFileIsSavedOrNamed(CheckContext check) {
    String script =
        """
        exec 3<> kit-removed
        rm kit-removed
        echo kept >&3
        echo ready
        while read -r line; do echo "$line" >&3; cat /proc/self/fd/3; done
        """;
    expectSavedOrNamed(check, Command.shell(script).withStdin(), "kit-removed", "kept\n");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class},
      tools = "python3")
  public void socketInAFolderIsSavedOrNamed(CheckContext check) {
    String script =
        """
        import socket, sys
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind("kit-socket")
        except OSError as e:
            print("refused", e, "ready", flush=True)
        else:
            listener.listen()
            print("ready", flush=True)
        for line in sys.stdin:
            if listener.getsockname():
                client = socket.socket(socket.AF_UNIX)
                client.connect("kit-socket")
                client.sendall(line.encode())
                print("kept", listener.accept()[0].recv(100).decode(), end="", flush=True)
            else:
                print("kept", line, end="", flush=True)
        """;
    Command command = Command.argv("python3", "-c", script).withStdin();
    expectSavedOrNamed(check, command, "kit-socket", "kept ");
  }

  /**
   * Expects either forks that continue the command, or a conflict that names the resource; the
   * source continues in both cases.
   */
  private static void expectSavedOrNamed(
      CheckContext check, Command command, String name, String answer) {
    try (AttachedReader source = new AttachedReader(check.sandbox().start(command))) {
      source.awaitText("ready\n");
      Sandbox fork = null;
      try {
        fork = fork(check, check.sandbox());
      } catch (Conflict refusal) {
        Expect.contains(String.valueOf(refusal.getMessage()), name, "the message of the conflict");
        check.note("refused: " + refusal.getMessage());
      }
      if (fork != null) {
        check.note("saved");
        try (AttachedReader other = AttachedReader.attach(fork, source.id())) {
          other.type("in-the-fork\n").awaitText(answer).awaitText("in-the-fork\n");
        }
      }
      source.type("in-the-source\n").awaitText(answer).awaitText("in-the-source\n");
      Expect.that(!source.text().contains("in-the-fork"), "the source has its own");
      source.execution().kill();
      source.awaitExit();
    }
    Expect.equal("ok\n", output(fork(check, check.sandbox()), "echo ok"), "a fork afterwards");
  }

  @Check(value = "N4", needs = MemoryForking.class)
  public void networksAndFoldersOfTheHostAreRefused(CheckContext check) {
    List<String> refused = new ArrayList<>();
    for (NetworkMode mode : Set.of(NetworkMode.HOST, NetworkMode.BRIDGE)) {
      SandboxSpec spec = check.spec().network(Network.of(mode)).build();
      if (check.info().missing(spec, Requirements.NONE).isEmpty()) {
        expectNoFork(check.provider().create(spec));
        refused.add("network " + mode);
      }
    }
    try (TemporaryFolder folder = TemporaryFolder.create("isola-kit")) {
      SandboxSpec spec = check.spec().workspacePath(folder.path()).build();
      if (check.info().support().has(SpecFeature.WORKSPACE_PATH)) {
        expectNoFork(check.provider().create(spec));
        refused.add("a folder of the host");
        check.provider().destroy(spec.id(), DestroyOptions.FORCE);
      }
    }
    if (refused.isEmpty()) {
      throw check.notRun("the provider supports neither a network nor folders of the host");
    }
    check.note("refused: " + refused);
  }

  private static void expectNoFork(Sandbox sandbox) {
    Expect.thrown(
        "a fork point of " + sandbox.id(),
        () -> createForkPoint(sandbox).close(),
        Unsupported.class);
    Expect.equal("ok\n", output(sandbox, "echo ok"), "the source afterwards");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class},
      tools = "tail")
  public void memoryOfAForkIsLimited(CheckContext check) {
    if (!check.info().support().enforcedLimits().contains(LimitKind.MEMORY)) {
      throw check.notRun("the provider does not declare memory as enforced");
    }
    ResourceLimits limits = ResourceLimits.DEFAULT.withMemoryMb(96);
    Sandbox source = check.create(spec -> spec.limits(limits));
    ShellVariable variable = ShellVariable.start(source, "kept");
    try (ForkPoint forkPoint = createForkPoint(source)) {
      Sandbox greedy = forkPoint.create(check.spec().limits(limits).build());
      Sandbox other = forkPoint.create(check.spec().limits(limits).build());
      ExecResult many =
          greedy.run(
              Command.shell("head -c 800000000 /dev/zero | tail -n 1 > /dev/null")
                  .withTimeout(Duration.ofSeconds(45)));
      Expect.equal(new Exit.OutOfMemory(), many.exit(), "how 800 MB in 96 end in a fork");
      for (Sandbox one : List.of(source, other)) {
        Expect.equal("kept", variable.in(one), "the value in another sandbox");
      }
      Sandbox later = forkPoint.create(check.spec().limits(limits).build());
      Expect.equal("kept", variable.in(later), "the value in a later fork");
    }
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class, Renewing.class})
  public void deadlineOfAForkIsItsOwn(CheckContext check) {
    Sandbox source = check.create(spec -> spec.deadline(Duration.ofSeconds(20)));
    ShellVariable variable = ShellVariable.start(source, "kept");
    Sandbox shorter;
    Sandbox longer;
    try (ForkPoint forkPoint = createForkPoint(source)) {
      longer = forkPoint.create(check.spec().deadline(Duration.ofMinutes(5)).build());
      shorter = forkPoint.create(check.spec().deadline(Duration.ofSeconds(2)).build());
    }
    expectGone(check, shorter, "the fork with the shorter deadline");
    Expect.equal("kept", variable.in(source), "the value in the source before its deadline");
    expectGone(check, source, "the source");
    Expect.equal("kept", variable.in(longer), "the value in the fork with the longer deadline");
  }

  private static void expectGone(CheckContext check, Sandbox sandbox, String whose) {
    Expect.eventually(
        TIMEOUT,
        whose + " ends at its deadline",
        () -> check.provider().attach(sandbox.id()).isEmpty());
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void environmentOfAForkIsItsOwn(CheckContext check) {
    String secret = "kit-secret-9d27";
    Sandbox source = check.create(spec -> spec.env("KIT_SOURCE", "source"));
    ShellVariable variable = ShellVariable.start(source, "kept");
    Sandbox fork;
    Sandbox other;
    try (ForkPoint forkPoint = createForkPoint(source)) {
      fork =
          forkPoint.create(
              check.spec().env("KIT_FORK", "fork").secretEnv("KIT_KEY", Secret.of(secret)).build());
      other = forkPoint.create(check.spec().env("KIT_FORK", "other").build());
    }
    String show = "echo ${KIT_SOURCE-none} ${KIT_FORK-none} ${KIT_KEY-none}";
    Expect.equal("none fork " + secret + "\n", output(fork, show), "the variables in the fork");
    Expect.equal("none other none\n", output(other, show), "the variables in the other fork");
    Expect.equal("source none none\n", output(source, show), "the variables in the source");
    String environments = "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n'; true";
    for (Sandbox one : List.of(source, other)) {
      Expect.that(
          !output(one, environments).contains(secret), "no process in " + one.id() + " has it");
    }
    Expect.that(
        !(fork.toString() + check.provider().inventory()).contains(secret), "it is not printed");
    Expect.equal("kept", variable.in(fork), "the value in the fork");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class, Pausing.class})
  public void forksCanBePaused(CheckContext check) {
    ShellVariable variable = ShellVariable.start(check.sandbox(), "kept");
    output(check.sandbox(), "echo kept > file");
    Sandbox fork = fork(check, check.sandbox());
    Pausing pausing = fork.as(Pausing.class).orElseThrow();
    for (PauseKind kind : List.of(PauseKind.MEMORY, PauseKind.FILESYSTEM)) {
      if (!pausing.kinds().contains(kind)) {
        continue;
      }
      pausing.pause(kind);
      Expect.thrown("a command while paused: " + kind, () -> output(fork, "true"), Conflict.class);
      expectValue(check.sandbox(), variable, "kept");
      pausing.resume();
      Expect.equal("kept\n", output(fork, "cat file"), "the file after a pause: " + kind);
      Expect.equal(
          fork.id() + "\n", output(fork, "echo $ISOLA_SANDBOX"), "the id after a pause: " + kind);
      if (kind == PauseKind.MEMORY) {
        expectValue(fork, variable, "kept");
      }
    }
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void storedForkPointContinuesInAnotherProcess(CheckContext check) throws IOException {
    ShellVariable variable = ShellVariable.start(check.sandbox(), "kept");
    output(check.sandbox(), "echo kept > file; echo home > ~/kit-home; chmod 604 ~/kit-home");
    try (TemporaryFolder folder = TemporaryFolder.create("isola-kit")) {
      Path stored = store(check.sandbox(), folder);
      check.provider().destroy(check.sandbox().id(), DestroyOptions.FORCE);
      Provider other = check.anotherProcess();
      Set<String> random = new HashSet<>();
      for (int i = 0; i < 2; i++) { // the archive can be used more than once
        try (InputStream archive = Files.newInputStream(stored);
            ForkPoint forkPoint = other.openForkPoint(archive)) {
          Sandbox fork = fork(check, forkPoint);
          expectValue(fork, variable, "kept");
          Expect.equal(
              "home\n604\n",
              output(fork, "cat ~/kit-home; stat -c %a ~/kit-home"),
              "a file outside of the workspace");
          random.add(output(fork, "head -c 16 /dev/urandom | od -An -tx1"));
        }
      }
      Expect.equal(2, random.size(), "the number of different random bytes");
    }
  }

  private static Path store(Sandbox sandbox, TemporaryFolder folder) throws IOException {
    Path stored = folder.path().resolve("stored");
    try (MemoryForkPoint forkPoint =
            sandbox.as(MemoryForking.class).orElseThrow().createForkPoint();
        InputStream archive = forkPoint.archive()) {
      Files.copy(archive, stored);
    }
    return stored;
  }

  /** A leak check follows: nothing is left of what cannot be used. */
  @Check(value = "N4", needs = MemoryForking.class)
  public void damagedForkPointIsRefused(CheckContext check) throws IOException {
    try (TemporaryFolder folder = TemporaryFolder.create("isola-kit")) {
      byte[] stored = Files.readAllBytes(store(check.sandbox(), folder));
      for (byte[] damaged :
          List.of(
              new byte[0],
              FileContents.random(10_000, 3),
              Arrays.copyOf(stored, 100),
              Arrays.copyOf(stored, stored.length / 2))) {
        SandboxSpec spec = check.spec().build();
        Expect.thrown(
            "a fork of " + damaged.length + " of " + stored.length + " bytes",
            () -> {
              try (ForkPoint forkPoint = check.provider().openForkPoint(FileContents.of(damaged))) {
                forkPoint.create(spec);
              }
            },
            SandboxException.class);
        Expect.that(
            check.provider().inventory().stream().noneMatch(one -> one.id().equals(spec.id())),
            "nothing is left of the fork");
      }
    }
    Expect.equal("ok\n", output(check.sandbox(), "echo ok"), "the source afterwards");
  }

  @Check(
      value = "N4",
      needs = {MemoryForking.class, Attaching.class})
  public void anotherProcessFindsForks(CheckContext check) {
    ShellVariable variable = ShellVariable.start(check.sandbox(), "kept");
    output(check.sandbox(), "echo kept > file");
    SandboxId id = fork(check, check.sandbox()).id();
    Provider other = check.anotherProcess();
    Expect.that(
        other.inventory().stream()
            .anyMatch(one -> one.id().equals(id) && one.state() == SandboxState.RUNNING),
        "another process lists the fork as running");
    for (SandboxId one : List.of(id, check.sandbox().id())) {
      Sandbox attached = other.attach(one).orElseThrow(() -> new CheckFailed("there is no " + one));
      expectValue(attached, variable, "kept");
      expectValue(fork(check, attached), variable, "kept");
    }
  }
}
