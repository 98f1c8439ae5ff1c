package dev.isola.provider.subprocess;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SubprocessLifecycleTest extends SubprocessFixture {

  @Test
  void runsACommand() {
    ExecResult result = create().run(Command.shell("echo hello; echo oops >&2; exit 7"));
    assertThat(result.stdout().text()).isEqualTo("hello\n");
    assertThat(result.stderr().text()).isEqualTo("oops\n");
    assertThat(result.exit()).isEqualTo(new Exit.Exited(7));
    assertThat(result.duration()).isPositive();
  }

  @Test
  void healthyProviderReportsItsInfo() {
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    assertThat(provider.info().name()).isEqualTo("subprocess");
    assertThat(provider.info().prerequisites()).hasSize(1);
  }

  @Test
  void sandboxWhoseSocketCannotBeCreatedIsDestroyed() throws IOException {
    Sandbox sandbox = create();
    sandbox.start(Command.shell("sleep 1000"));
    SandboxFolder folder =
        new SandboxFolder(data.resolve("sandboxes").resolve(sandbox.id().value()));
    Files.delete(folder.socket());
    Files.createDirectories(folder.socket().resolve("obstacle"));
    try (Provider other = another()) {
      assertThatThrownBy(() -> other.attach(sandbox.id()))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("the socket of sandbox " + sandbox.id() + " cannot be created");
      other.destroy(sandbox.id(), DestroyOptions.NORMAL);
      assertThat(other.inventory()).isEmpty();
    }
    assertThat(folder.exists()).isFalse();
    assertThat(AgentProcess.findByCommandLine(INSTANCE, sandbox.id().value())).isEmpty();
  }

  @Test
  void missingDataFolderIsUnhealthyWithAReason() throws IOException {
    Provider nowhere =
        new SubprocessProviderFactory()
            .create(
                dev.isola.spi.provider.ProviderConfig.EMPTY,
                new dev.isola.spi.provider.ProviderContext(
                    new dev.isola.spi.InstanceId(INSTANCE),
                    data.resolve("missing"),
                    java.time.InstantSource.system()));
    assertThat(nowhere.health())
        .isInstanceOfSatisfying(
            Health.Unhealthy.class,
            health -> {
              assertThat(health.reason()).contains("missing");
              assertThat(health.fix()).contains("--data");
            });
  }

  @Test
  void createIsIdempotentById() {
    SandboxSpec spec = spec().build();
    Sandbox first = provider.create(spec);
    first.files().writeText("mark", "x", UTF_8);
    assertThat(provider.create(spec).files().exists("mark")).isTrue();
    assertThat(provider.inventory()).hasSize(1);
  }

  @Test
  void concurrentCreatesWithOneIdCreateOneSandbox() throws Exception {
    SandboxSpec spec = spec().build();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Sandbox> create = () -> provider.create(spec);
      List<Future<Sandbox>> made = threads.invokeAll(List.of(create, create, create, create));
      for (Future<Sandbox> one : made) {
        assertThat(one.get().run(Command.argv("true")).succeeded()).isTrue();
      }
    }
    assertThat(provider.inventory()).hasSize(1);
  }

  @Test
  void destroyIsIdempotentAndLeavesNothing() {
    Sandbox sandbox = create();
    sandbox.start(Command.shell("setsid sleep 1000 & sleep 1000")).close();
    Path folder = Path.of(provider.inventory().getFirst().details().get("folder"));
    assertThat(folder).exists();
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(folder).doesNotExist();
    assertThat(provider.inventory()).isEmpty();
    assertThat(AgentProcess.findByCommandLine(INSTANCE, sandbox.id().value())).isEmpty();
  }

  @Test
  void concurrentDestroysSucceed() throws Exception {
    Sandbox sandbox = create();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Provider other = another()) {
      List<Provider> sides = List.of(provider, other, provider, other);
      List<Callable<Boolean>> calls =
          sides.stream()
              .<Callable<Boolean>>map(
                  side ->
                      () -> {
                        side.destroy(sandbox.id(), DestroyOptions.FORCE);
                        return true;
                      })
              .toList();
      for (Future<Boolean> call : threads.invokeAll(calls)) {
        assertThat(call.get()).isTrue();
      }
    }
    assertThat(provider.inventory()).isEmpty();
  }

  @Test
  void everyCallAfterDestroyThrowsGone() {
    Sandbox sandbox = create();
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(sandbox.state()).isEqualTo(SandboxState.DESTROYED);
    assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
    assertThatThrownBy(() -> sandbox.files().stat("/workspace", NOFOLLOW_LINKS))
        .isInstanceOf(Gone.class);
    assertThat(provider.attach(sandbox.id())).isEmpty();
  }

  @Test
  void destroyOfAnUnknownSandboxDoesNothing() {
    provider.destroy(new SandboxId("nosuch"), DestroyOptions.NORMAL);
    assertThat(provider.attach(new SandboxId("nosuch"))).isEmpty();
  }

  @Test
  void anotherProcessAttachesToTheSandbox() {
    Sandbox sandbox = create();
    Execution execution =
        sandbox.start(
            Command.shell("for i in 1 2 3 4 5; do echo line $i; sleep 0.1; done; exit 4"));
    Output first = execution.read().orElseThrow();
    provider.close();
    try (Provider other = another()) {
      assertThat(other.inventory())
          .singleElement()
          .returns(SandboxState.RUNNING, InventoryItem::state)
          .returns(sandbox.id(), InventoryItem::id);
      Attaching attaching =
          other.attach(sandbox.id()).orElseThrow().as(Attaching.class).orElseThrow();
      Execution again = attaching.attach(execution.id(), first.end());
      StringBuilder rest = new StringBuilder();
      while (again.read().orElse(null) instanceof Output.Data data) {
        rest.append(data.bytes().utf8());
      }
      assertThat(first.end() + rest.length()).isEqualTo(35);
      assertThat(rest.toString()).endsWith("line 5\n");
      assertThat(again.await()).isEqualTo(new Exit.Exited(4));
    }
  }

  @Test
  void sandboxWithoutRecordedAgentIsFoundByItsCommandLine() throws IOException {
    Sandbox sandbox = create();
    SandboxFolder folder = new SandboxFolder(data.resolve("sandboxes/" + sandbox.id()));
    SandboxRecord whole = SandboxRecord.read(folder.record()).orElseThrow();
    writeUnfinished(whole, folder, whole.createdAt(), false);
    try (Provider other = another()) {
      assertThat(other.inventory().getFirst().state()).isEqualTo(SandboxState.RUNNING);
      other.destroy(sandbox.id(), DestroyOptions.NORMAL);
      assertThat(other.inventory()).isEmpty();
    }
    assertThat(whole.agent().orElseThrow().isAlive()).isFalse();
  }

  @Test
  void abandonedSandboxIsRemovedByTheNextCreate() throws IOException {
    Sandbox sandbox = create();
    SandboxFolder folder = new SandboxFolder(data.resolve("sandboxes/" + sandbox.id()));
    SandboxRecord whole = SandboxRecord.read(folder.record()).orElseThrow();
    try (Provider other = another()) {
      writeUnfinished(whole, folder, whole.createdAt(), true);
      Sandbox next = other.create(SandboxSpec.builder(new SandboxId("next1")).build());
      assertThat(whole.agent().orElseThrow().isAlive()).as("it may still be in creation").isTrue();
      other.destroy(next.id(), DestroyOptions.FORCE);

      writeUnfinished(whole, folder, whole.createdAt().minus(Duration.ofHours(2)), true);
      next = other.create(SandboxSpec.builder(new SandboxId("next2")).build());
      assertThat(whole.agent().orElseThrow().isAlive()).isFalse();
      assertThat(folder.path()).doesNotExist();
      other.destroy(next.id(), DestroyOptions.FORCE);
    }
  }

  /** As if the server had died between starting the agent and recording it. */
  private static void writeUnfinished(
      SandboxRecord whole, SandboxFolder folder, Instant createdAt, boolean shortLived)
      throws IOException {
    new SandboxRecord(
            whole.id(),
            whole.instance(),
            createdAt,
            whole.workspace(),
            whole.ownWorkspace(),
            whole.secret(),
            whole.commandTimeout(),
            shortLived,
            whole.stopped(),
            Optional.empty())
        .write(folder.record());
  }

  @Test
  void leftoversWithoutAProcessAreListedAndRemoved() {
    Sandbox sandbox = create();
    long pid = Long.parseLong(provider.inventory().getFirst().details().get("agentPid"));
    assertThat(ProcessHandle.of(pid).orElseThrow().destroyForcibly()).isTrue();
    await().until(() -> AgentProcess.startTimeOf(pid).isEmpty());
    assertThat(provider.inventory().getFirst().state()).isEqualTo(SandboxState.ERROR);
    assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
    assertThatThrownBy(() -> provider.create(SandboxSpec.builder(sandbox.id()).build()))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("destroy that sandbox first");
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(provider.inventory()).isEmpty();
  }

  @Test
  void sandboxesOfOtherInstancesAreNotTouched() throws IOException {
    Sandbox sandbox = create();
    SandboxFolder folder = new SandboxFolder(data.resolve("sandboxes/" + sandbox.id()));
    String text = Files.readString(folder.record());
    Files.writeString(folder.record(), text.replace(INSTANCE, "stranger"));
    assertThat(provider.inventory()).isEmpty();
    Files.writeString(folder.record(), text);
    assertThat(provider.inventory()).hasSize(1);
  }

  @Test
  void sandboxEndsAtItsTtl() {
    Sandbox sandbox = create(spec -> spec.deadline(Duration.ofMillis(400)));
    long pid = Long.parseLong(provider.inventory().getFirst().details().get("agentPid"));
    await().atMost(Duration.ofSeconds(5)).until(() -> AgentProcess.startTimeOf(pid).isEmpty());
    assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
  }

  @Test
  void ttlIsRenewed() {
    Sandbox sandbox = create(spec -> spec.deadline(Duration.ofMillis(1500)));
    sandbox.as(Renewing.class).orElseThrow().renew(Duration.ofMinutes(1));
    assertThat(sandbox.run(Command.shell("sleep 2; echo alive")).stdout().text())
        .isEqualTo("alive\n");
  }

  @Test
  void shortLivedSandboxEndsWithItsConnectionAndIsRemovedByTheNextCreate() {
    Provider owner = another();
    Sandbox sandbox = owner.create(spec().linger(Duration.ZERO).build());
    sandbox.start(Command.shell("sleep 1000")).close();
    assertThat(provider.inventory().getFirst().state()).isEqualTo(SandboxState.RUNNING);
    owner.close();
    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> provider.inventory().getFirst().state() == SandboxState.ERROR);
    Sandbox next = create();
    assertThat(provider.inventory()).singleElement().returns(next.id(), InventoryItem::id);
  }

  @Test
  void providedWorkspaceIsUsedAndKept(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("given.txt"), "given");
    Sandbox sandbox = create(spec -> spec.workspacePath(folder));
    assertThat(sandbox.run(Command.shell("cat given.txt; pwd")).stdout().text())
        .isEqualTo("given" + folder + "\n");
    sandbox.files().writeText("/workspace/made.txt", "made", UTF_8);
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(folder.resolve("made.txt")).hasContent("made");
  }

  @Test
  void volumesAreMountedAndReadOnlyIsEnforced(@TempDir Path folder) throws IOException {
    if (provider.info().support().volumeTypes().isEmpty()) {
      assertThatThrownBy(
              () ->
                  create(
                      spec ->
                          spec.volume(VolumeMount.bind(folder.toString(), "/workspace/m", true))))
          .isInstanceOf(ProviderUnavailable.class);
      return;
    }
    Files.writeString(folder.resolve("a"), "inside");
    Sandbox sandbox =
        create(
            spec ->
                spec.volume(VolumeMount.bind(folder.toString(), "/workspace/ro", true))
                    .volume(VolumeMount.bind(folder.toString(), "/workspace/deep/rw", false)));
    assertThat(sandbox.run(Command.shell("cat ro/a; echo x > ro/b")).exitCode()).isNotZero();
    assertThat(sandbox.run(Command.shell("echo new > deep/rw/b")).succeeded()).isTrue();
    assertThat(folder.resolve("b")).hasContent("new");
    assertThat(sandbox.files().readText("/workspace/ro/a", UTF_8, 100)).isEqualTo("inside");
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(folder.resolve("a")).as("the source of the mount is not removed").exists();
  }

  @Test
  void unsupportedFeaturesAreRejectedByName() {
    Map<String, UnaryOperator<SandboxSpec.Builder>> cases =
        Map.of(
            "images", spec -> spec.image("debian"),
            "GPUs", spec -> spec.gpus(1),
            "network mode none", spec -> spec.network(Network.of(NetworkMode.NONE)),
            "network mode bridge", spec -> spec.network(Network.of(NetworkMode.BRIDGE)),
            "mounts outside /workspace",
                spec -> spec.volume(VolumeMount.bind("/tmp", "/data", true)),
            "volumes of type tmpfs",
                spec ->
                    spec.volume(
                        new VolumeMount(VolumeMount.Type.TMPFS, "", "/workspace/t", false)));
    cases.forEach(
        (name, with) ->
            assertThatThrownBy(() -> create(with))
                .isInstanceOf(Unsupported.class)
                .hasMessageContaining(name));
    assertThat(provider.inventory()).isEmpty();
  }

  @Test
  void allMissingHostPathsAreReported() {
    assertThatThrownBy(
            () ->
                create(
                    spec ->
                        spec.workspacePath(Path.of("/no/such/folder"))
                            .volume(VolumeMount.bind("/no/such/source", "/workspace/m", true))))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("/no/such/folder")
        .hasMessageContaining("/no/such/source");
  }

  @Test
  void filesAndInitPrecedeTheFirstCommand() {
    Sandbox sandbox =
        create(
            spec ->
                spec.seedFile("conf/a.txt", Bytes.utf8("seeded"))
                    .init(Command.shell("cp conf/a.txt b.txt")));
    assertThat(sandbox.files().readText("b.txt", UTF_8, 100)).isEqualTo("seeded");
  }

  @Test
  void failingInitFailsCreateAndLeavesNothing() {
    assertThatThrownBy(() -> create(spec -> spec.init(Command.shell("echo no good >&2; exit 3"))))
        .isInstanceOfSatisfying(
            InvalidRequest.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.INIT_FAILED);
              assertThat(e.fault().context()).containsEntry("stderr", "no good\n");
            });
    assertThat(provider.inventory()).isEmpty();
  }

  @Test
  void commandsDoNotInheritTheServersEnvironment() {
    assertThat(System.getenv("PATH")).isNotNull();
    Sandbox sandbox = create(spec -> spec.env("MINE", "1").env("OVER", "spec"));
    String env = sandbox.run(Command.shell("env").withEnv("OVER", "command")).stdout().text();
    assertThat(env).contains("MINE=1\n", "OVER=command\n", "HOME=").doesNotContain("JAVA_HOME");
    assertThat(env.lines().map(line -> line.split("=", 2)[0]))
        .isSubsetOf(
            "MINE",
            "OVER",
            "ISOLA_SANDBOX",
            "ISOLA_INSTANCE",
            "HOME",
            "LANG",
            "PATH",
            "PWD",
            "USER",
            "LOGNAME",
            "SHELL",
            "_",
            "SHLVL",
            "OLDPWD");
  }

  @Test
  void dataFolderIsHiddenWithNamespaces() {
    if (provider.info().support().volumeTypes().isEmpty()) {
      Assumptions.abort("NOT RUN: mount namespaces are not available here");
    }
    Sandbox other = create();
    Sandbox sandbox = create();
    Path record = data.resolve("sandboxes/" + sandbox.id() + "/record");
    assertThat(record).as("precondition: the folder exists").exists();
    ExecResult result =
        sandbox.run(
            Command.shell("cat " + record + "; ls " + data + "/sandboxes; ls " + data + "/bin"));
    assertThat(result.stdout().text()).isEqualTo(sandbox.id() + "\n");
    assertThat(result.stdout().text()).doesNotContain(other.id().value());
    assertThat(sandbox.run(Command.shell("echo kept > $PWD/file; cat file")).stdout().text())
        .isEqualTo("kept\n");
    assertThat(data.resolve("sandboxes/" + sandbox.id() + "/workspace/file")).exists();
  }

  @Test
  void fileDescriptorLimitIsEnforced() {
    Sandbox sandbox = create(spec -> spec.limits(ResourceLimits.DEFAULT.withFileDescriptors(64)));
    assertThat(sandbox.run(Command.shell("ulimit -n; ulimit -Hn")).stdout().text())
        .isEqualTo("64\n64\n");
  }

  @Test
  void specTimeoutIsTheDefaultForCommands() {
    Sandbox sandbox =
        create(spec -> spec.limits(ResourceLimits.DEFAULT.withTimeout(Duration.ofMillis(300))));
    assertThat(sandbox.run(Command.argv("sleep", "100")).timedOut()).isTrue();
  }

  @Test
  void commandsRunAsTheRequestedUser() {
    if (!isRoot()) {
      assertThatThrownBy(() -> create().run(Command.argv("id").withUser("root")))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("root");
      return;
    }
    Sandbox sandbox = create(spec -> spec.user("nobody"));
    assertThat(sandbox.run(Command.shell("id -un; touch mine && stat -c %U mine")).stdout().text())
        .isEqualTo("nobody\nnobody\n");
    assertThat(sandbox.run(Command.argv("id", "-un").withUser("root")).stdout().text())
        .isEqualTo("root\n");
    assertThatThrownBy(() -> sandbox.run(Command.argv("id").withUser("nosuchuser")))
        .isInstanceOfSatisfying(
            InvalidRequest.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.USER_NOT_FOUND));
  }

  @Test
  void tooLongDataFolderIsRejectedBeforeAnythingIsCreated() throws IOException {
    Path deep = Files.createDirectories(data.resolve("x".repeat(100)));
    try (Provider far =
        new SubprocessProviderFactory()
            .create(
                dev.isola.spi.provider.ProviderConfig.EMPTY,
                new dev.isola.spi.provider.ProviderContext(
                    new dev.isola.spi.InstanceId(INSTANCE),
                    deep,
                    java.time.InstantSource.system()))) {
      assertThatThrownBy(() -> far.create(spec().build()))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("shorter path");
      assertThat(far.inventory()).isEmpty();
    }
  }
}
