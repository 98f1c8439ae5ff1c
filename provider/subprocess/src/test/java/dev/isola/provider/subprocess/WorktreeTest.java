package dev.isola.provider.subprocess;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.UniqueResources;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WorktreeTest {
  private final InstanceId instance = UniqueResources.instanceId("wt");

  private static final String COMMIT =
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m ";

  @TempDir Path repository;
  private Path data;
  private Provider provider;

  @BeforeEach
  void makeRepository() throws Exception {
    sh("git init -q -b main && echo one > a.txt && git add a.txt && " + COMMIT + "first");
    sh("git branch old && echo two > a.txt && git add a.txt && " + COMMIT + "second");
    data = Files.createTempDirectory("isola-wt");
    provider = open();
  }

  @AfterEach
  void destroyAll() throws IOException {
    for (InventoryItem left : provider.inventory()) {
      provider.destroy(left.id(), DestroyOptions.FORCE);
    }
    provider.close();
    new SandboxFolder(data).remove();
  }

  private Provider open() {
    return new WorktreeProviderFactory()
        .create(ProviderConfig.EMPTY, new ProviderContext(instance, data, InstantSource.system()));
  }

  private String sh(String script) throws Exception {
    Process process =
        new ProcessBuilder("sh", "-c", script)
            .directory(repository.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }

  private SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RandomGenerator.getDefault()))
        .deadline(Duration.ofMinutes(5))
        .workspacePath(repository);
  }

  private static String run(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script));
    assertThat(result.succeeded()).as(result.stderr().text()).isTrue();
    return result.stdout().text().strip();
  }

  @Test
  void eachSandboxHasANewWorktreeOfItsRef() {
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    Sandbox head = provider.create(spec().build());
    Sandbox old = provider.create(spec().image("old").build());
    assertThat(run(head, "cat a.txt; git status --porcelain")).isEqualTo("two");
    assertThat(run(old, "cat a.txt")).isEqualTo("one");
    assertThat(old.files().readText("/workspace/a.txt", UTF_8, 100)).isEqualTo("one\n");
  }

  @Test
  void parallelAgentsDoNotSeeEachOthersFiles() throws Exception {
    Sandbox first = provider.create(spec().build());
    Sandbox second = provider.create(spec().build());
    run(first, "echo mine > new.txt");
    assertThat(second.files().exists("new.txt")).isFalse();
    assertThat(repository.resolve("new.txt")).doesNotExist();
    assertThat(sh("git worktree list").lines()).hasSize(3);
  }

  @Test
  void cleanWorktreeIsRemovedWithItsBranch() throws Exception {
    Sandbox sandbox = provider.create(spec().build());
    run(sandbox, "true");
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(sh("git worktree list").lines()).hasSize(1);
    assertThat(sh("git branch --list 'isola/*'")).isEmpty();
    assertThat(provider.inventory()).isEmpty();
    assertThat(data.resolve("trees")).isEmptyDirectory();
  }

  @Test
  void uncommittedWorkIsKeptAndItsPathReported() {
    Sandbox sandbox = provider.create(spec().build());
    run(sandbox, "echo precious > work.txt");
    Path tree = data.resolve("trees/" + sandbox.id());
    assertThatThrownBy(() -> provider.destroy(sandbox.id(), DestroyOptions.NORMAL))
        .isInstanceOfSatisfying(
            Conflict.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSAVED_WORK))
        .hasMessageContaining(tree.toString());
    assertThat(tree.resolve("work.txt")).hasContent("precious");
    assertThat(run(sandbox, "cat work.txt")).as("it still runs").isEqualTo("precious");
    provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    assertThat(tree).doesNotExist();
  }

  @Test
  void unpushedCommitsAreKeptUntilAnotherRefHasThem() throws Exception {
    Sandbox sandbox = provider.create(spec().build());
    run(sandbox, "echo x > b.txt && git add b.txt && " + COMMIT + "work");
    assertThatThrownBy(() -> provider.destroy(sandbox.id(), DestroyOptions.NORMAL))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("1 unpushed commits");
    sh("git merge -q isola/" + sandbox.id());
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(repository.resolve("b.txt")).exists();
  }

  @Test
  void unsavedWorkOutlivesItsProcessesAndIsListed() {
    Sandbox sandbox = provider.create(spec().deadline(Duration.ofMillis(700)).build());
    run(sandbox, "echo precious > work.txt");
    org.awaitility.Awaitility.await()
        .until(() -> provider.inventory().getFirst().state() == SandboxState.ERROR);
    assertThatThrownBy(() -> provider.destroy(sandbox.id(), DestroyOptions.NORMAL))
        .isInstanceOf(Conflict.class);
    assertThat(data.resolve("trees/" + sandbox.id() + "/work.txt")).exists();
  }

  @Test
  void anotherProcessFindsAndDestroysTheSandbox() throws Exception {
    Sandbox sandbox = provider.create(spec().build());
    try (Provider other = open()) {
      assertThat(run(other.attach(sandbox.id()).orElseThrow(), "cat a.txt")).isEqualTo("two");
      other.destroy(sandbox.id(), DestroyOptions.NORMAL);
    }
    assertThat(sh("git worktree list").lines()).hasSize(1);
  }

  @Test
  void invalidRepositoryOrRefIsRejectedAndLeavesNothing(@TempDir Path plain) {
    assertThatThrownBy(() -> provider.create(spec().workspacePath(plain).build()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("not a git repository");
    assertThatThrownBy(() -> provider.create(spec().image("nosuchref").build()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("nosuchref");
    assertThatThrownBy(() -> provider.create(spec().image("--upload-pack=x").build()))
        .isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> provider.create(SandboxSpec.builder(new SandboxId("norepo")).build()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("needs a repository");
    assertThat(provider.inventory()).isEmpty();
  }

  @Test
  void homeFolderIsOutsideTheWorktree() {
    Sandbox sandbox = provider.create(spec().build());
    run(sandbox, "echo x > ~/.cache-of-something");
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
  }
}
