package dev.isola.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.snapshot.SnapshotDiff;
import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.SnapshotWriter;
import dev.isola.snapshot.blob.FolderBlobStore;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of real sandboxes, through the engine. */
class SnapshotServiceTest {
  /** Lists names, types, modes, owners, times and link targets, and a checksum of every file. */
  private static final String DESCRIBE =
      "cd /workspace && find . -printf '%p %y %m %U %G %T@ %l\\n' | sort"
          + " && find . -type f -printf '%p %n\\n' | sort"
          + " && find . -type f -print0 | sort -z | xargs -0 -r sha256sum";

  @TempDir Path folder;
  private EngineFixture fixture;
  private final List<SandboxId> made = new ArrayList<>();
  private int number;

  @BeforeEach
  void open() throws IOException {
    Files.createDirectories(folder.resolve("bubblewrap"));
    fixture = new EngineFixture(folder, "provider: bubblewrap\n", new BubblewrapProviderFactory());
    Assumptions.assumeTrue(
        fixture.registry.get("bubblewrap").health() instanceof Health.Healthy,
        "bubblewrap is not to be had here");
  }

  @AfterEach
  void close() {
    made.forEach(id -> fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE));
    fixture.close();
  }

  private SandboxSpec.Builder spec() {
    return SandboxSpec.builder(new SandboxId("snap" + ++number));
  }

  private CreateResult make(SandboxSpec spec, String provider) {
    CreateRequest request = CreateRequest.of(spec, provider).withTtl(Duration.ofMinutes(5));
    CreateResult delivery =
        fixture.engine.creator().create(SandboxRequest.of(request).withFixedId());
    made.add(spec.id());
    return delivery;
  }

  private Sandbox sandbox() {
    return make(spec().build(), "bubblewrap").sandbox();
  }

  private static String output(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script));
    assertThat(result.succeeded()).as("%s: %s", script, result).isTrue();
    return result.stdout().text();
  }

  private SnapshotReport take(Sandbox sandbox) {
    return fixture.engine.snapshots().create(sandbox.id(), SnapshotRequest.WORKSPACE);
  }

  private Sandbox restored(String snapshot, String provider) {
    return make(spec().image(SnapshotImageName.of(snapshot)).build(), provider).sandbox();
  }

  private static void furnish(Sandbox sandbox) {
    output(
        sandbox,
        "mkdir -p a/b empty && echo one > a/one && head -c 300000 /dev/urandom > a/b/noise && ln -s"
            + " one a/link && ln -s /etc/passwd out && ln a/one a/same && chmod 4711 a/b/noise &&"
            + " chmod 750 empty && chown 1234:4321 a/one && touch -d '2001-02-03"
            + " 04:05:06.123456789' a/one && touch -d '1999-01-01 01:01:01.5' a");
  }

  @Test
  void snapshotIsRestoredIntoANewSandboxWithDifferentLimits() {
    Sandbox source = sandbox();
    furnish(source);
    String before = output(source, DESCRIBE);
    SnapshotReport report =
        fixture
            .engine
            .snapshots()
            .create(source.id(), SnapshotRequest.WORKSPACE.withTags(Map.of("for", "test")));
    Snapshot snapshot = report.snapshot();
    assertThat(snapshot.files()).isEqualTo(9);
    assertThat(snapshot.bytes()).isEqualTo(300_004);
    assertThat(snapshot.tags()).isEqualTo(Map.of("for", "test"));
    assertThat(snapshot.provider()).isEqualTo("bubblewrap");
    assertThat(snapshot.checksum()).hasSize(64);
    assertThat(report.incremental()).isFalse();
    fixture.engine.sandboxes().destroy(source.id(), DestroyOptions.FORCE);
    SandboxSpec.Builder other =
        spec()
            .image(SnapshotImageName.of(snapshot.id()))
            .limits(ResourceLimits.DEFAULT.withMemoryMb(333));
    Sandbox restored = make(other.build(), "bubblewrap").sandbox();
    assertThat(output(restored, DESCRIBE)).isEqualTo(before);
    assertThat(fixture.engine.sandboxes().view(restored.id()).spec())
        .contains("333", snapshot.id());
    assertThat(fixture.engine.snapshots().list()).containsExactly(snapshot);
  }

  @Test
  void snapshotIsRestoredAtAnotherProvider() {
    Sandbox source = make(spec().build(), "test").sandbox();
    source.files().writeText("/workspace/dir/file", "from memory", UTF_8);
    String id = take(source).snapshot().id();
    Sandbox restored = restored(id, "bubblewrap");
    assertThat(output(restored, "cat /workspace/dir/file")).isEqualTo("from memory");
    output(restored, "echo back > /workspace/more");
    Sandbox back = restored(take(restored).snapshot().id(), "test");
    assertThat(back.files().readText("/workspace/more", UTF_8, 100)).isEqualTo("back\n");
  }

  /** Files younger than two seconds are read again, because their timestamps are ambiguous. */
  private void takeUntilNothingIsRead(Sandbox source) {
    await().until(() -> take(source).readBytes() == 0);
  }

  @Test
  void incrementalSnapshotReadsOnlyChanges() throws Exception {
    Sandbox source = sandbox();
    output(
        source,
        "for i in $(seq 200); do head -c 10000 /dev/urandom > f$i; done; mkdir d; echo x > d/x");
    SnapshotReport first = take(source);
    assertThat(first.readBytes()).isEqualTo(2_000_002);
    takeUntilNothingIsRead(source);
    output(source, "echo changed >> f1; rm f2; echo new > n; mv d e; chmod 600 f3");
    SnapshotReport next = take(source);
    assertThat(next.incremental()).isTrue();
    assertThat(next.readBytes()).isEqualTo(10_008 + 4 + 10_000);
    assertThat(next.snapshot().parent()).isPresent();
    assertThat(next.snapshot().newBytes()).isLessThan(25_000);
    SnapshotDiff difference =
        fixture.engine.snapshots().difference(first.snapshot().id(), next.snapshot().id());
    assertThat(difference.added()).containsExactly("e", "e/x", "n");
    assertThat(difference.changed()).containsExactly("f1", "f3");
    assertThat(difference.removed()).containsExactly("d", "d/x", "f2");
    assertThat(output(restored(next.snapshot().id(), "bubblewrap"), DESCRIBE))
        .isEqualTo(output(source, DESCRIBE));
    fixture.restart(() -> {});
    assertThat(take(fixture.engine.sandboxes().get(source.id())).incremental()).isTrue();
  }

  @Test
  void incrementalSnapshotReadsFilesMovedIntoTheFolder() throws Exception {
    Sandbox source = sandbox();
    output(source, "mkdir /tmp/old && echo older > /tmp/old/file && echo x > x");
    takeUntilNothingIsRead(source);
    output(
        source,
        "mkdir in && cp -al /tmp/old in/ 2>/dev/null || cp -a /tmp/old in/; cat in/old/file");
    SnapshotReport next = take(source);
    assertThat(output(restored(next.snapshot().id(), "bubblewrap"), "cat /workspace/in/old/file"))
        .isEqualTo("older\n");
  }

  @Test
  void busySandboxIsFrozenBrieflyAndTheSnapshotIsConsistent() {
    Sandbox source = sandbox();
    output(source, "head -c 20000000 /dev/urandom > m");
    try (Execution writer =
        source.start(
            Command.shell(
                "i=0; while :; do i=$((i+1)); echo $i > a.n; mv a.n a; echo $i > z.n; mv z.n z;"
                    + " done"))) {
      output(source, "while ! test -e z; do sleep 0.01; done");
      SnapshotReport report =
          fixture
              .engine
              .snapshots()
              .create(
                  source.id(),
                  new SnapshotRequest(Map.of(), Optional.empty(), List.of(), List.of("*.n")));
      assertThat(report.held()).isPositive();
      Sandbox restored = restored(report.snapshot().id(), "bubblewrap");
      long a = Long.parseLong(output(restored, "cat a").strip());
      long z = Long.parseLong(output(restored, "cat z").strip());
      assertThat(a - z).isBetween(0L, 1L);
      writer.kill();
    }
  }

  @Test
  void forksHaveTheFilesAndAreIndependent() {
    Sandbox source = sandbox();
    furnish(source);
    String before = output(source, DESCRIBE);
    List<ForkResult> forks = fixture.engine.forks().fork(source.id(), ForkRequest.of(3));
    Set<String> random = new HashSet<>();
    assertThat(forks).hasSize(3);
    for (ForkResult fork : forks) {
      SandboxId id = ((ForkResult.Created) fork).view().id();
      made.add(id);
      assertThat(((ForkResult.Created) fork).method()).isEqualTo(ForkResult.Method.MOUNT);
      Sandbox sandbox = fixture.engine.sandboxes().get(id);
      assertThat(output(sandbox, DESCRIBE)).isEqualTo(before);
      random.add(output(sandbox, "head -c 16 /dev/urandom | od -x; echo own > own"));
      assertThat(output(sandbox, "date +%s").strip()).isNotEmpty();
    }
    assertThat(random).hasSize(3);
    assertThat(output(source, DESCRIBE)).isEqualTo(before);
    assertThat(fixture.engine.snapshots().list()).isEmpty();
    assertThatThrownBy(() -> fixture.engine.forks().fork(source.id(), ForkRequest.of(0)))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("0 forks");
  }

  @Test
  void memoryForkIsRejectedWithoutSideEffects() {
    Sandbox source = sandbox();
    try (Execution counting =
        source.start(
            Command.shell("n=0; while echo $n > /tmp/n; do n=$((n+1)); sleep 0.05; done"))) {
      await().atMost(Duration.ofSeconds(60)).until(() -> source.files().exists("/tmp/n"));
      Unsupported refused =
          catchThrowableOfType(
              Unsupported.class,
              () -> fixture.engine.forks().fork(source.id(), ForkRequest.of(2, ForkKind.MEMORY)));
      assertThat(refused.code()).isEqualTo(ErrorCode.NOT_IMPLEMENTED);
      assertThat(refused.fault().problem())
          .contains("memory of sandbox " + source.id(), "provider bubblewrap");
      assertThat(refused.fault().remedy()).contains("kind filesystem", "docs/snapshots.md");
      assertThat(fixture.registry.get("bubblewrap").inventory()).hasSize(1);
      assertThat(fixture.engine.snapshots().list()).isEmpty();
      String now = output(source, "cat /tmp/n");
      await().atMost(Duration.ofSeconds(60)).until(() -> !output(source, "cat /tmp/n").equals(now));
      counting.kill();
    }
  }

  @Test
  void workspaceInUseIsCopiedOnceAndThenShared() {
    Sandbox source = sandbox();
    furnish(source);
    String before = output(source, DESCRIBE);
    try (Execution working = source.start(Command.shell("exec sleep 100"))) {
      List<ForkResult> forks = fixture.engine.forks().fork(source.id(), ForkRequest.of(3));
      forks.forEach(fork -> made.add(((ForkResult.Created) fork).view().id()));
      assertThat(forks.stream().map(fork -> ((ForkResult.Created) fork).method()))
          .containsExactly(
              ForkResult.Method.RESTORE, ForkResult.Method.MOUNT, ForkResult.Method.MOUNT);
      for (ForkResult fork : forks) {
        Sandbox sandbox = fixture.engine.sandboxes().get(((ForkResult.Created) fork).view().id());
        assertThat(output(sandbox, DESCRIBE)).isEqualTo(before);
        output(sandbox, "echo own > own; rm -r *");
      }
      assertThat(output(source, DESCRIBE)).isEqualTo(before);
      working.kill();
    }
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void forksCanBeSnapshottedAndForked() {
    Sandbox source = sandbox();
    furnish(source);
    try (Execution working = source.start(Command.shell("exec sleep 100"))) {
      for (ForkResult fork : fixture.engine.forks().fork(source.id(), ForkRequest.of(2))) {
        SandboxId id = ((ForkResult.Created) fork).view().id();
        made.add(id);
        Sandbox sandbox = fixture.engine.sandboxes().get(id);
        output(sandbox, "echo more > more");
        Snapshot taken = take(sandbox).snapshot(); // its own snapshot is gone
        assertThat(output(restored(taken.id(), "bubblewrap"), DESCRIBE))
            .isEqualTo(output(sandbox, DESCRIBE));
        ForkResult again = fixture.engine.forks().fork(id, ForkRequest.of(1)).getFirst();
        made.add(((ForkResult.Created) again).view().id());
        assertThat(
                output(
                    fixture.engine.sandboxes().get(((ForkResult.Created) again).view().id()),
                    DESCRIBE))
            .isEqualTo(output(sandbox, DESCRIBE));
      }
      working.kill();
    }
  }

  @Test
  void warmPoolIsFilledFromASnapshot() throws IOException {
    Sandbox source = sandbox();
    furnish(source);
    String before = output(source, DESCRIBE);
    String image = SnapshotImageName.of(take(source).snapshot().id());
    String warm = "provider: bubblewrap\npool:\n  - size: 1\n    spec: {image: '" + image + "'}\n";
    fixture.close();
    fixture = new EngineFixture(folder, warm, new BubblewrapProviderFactory());
    await().atMost(Duration.ofSeconds(60)).until(() -> pooled().size() == 1);
    SandboxSpec wanted = SandboxSpec.builder(new SandboxId("any")).image(image).build();
    CreateResult got =
        fixture.engine.creator().create(SandboxRequest.of(CreateRequest.of(wanted, "bubblewrap")));
    made.add(got.view().id());
    assertThat(fixture.engine.pool().stats().hits()).isEqualTo(1);
    assertThat(output(got.sandbox(), DESCRIBE)).isEqualTo(before);
    CreateResult other =
        fixture
            .engine
            .creator()
            .create(SandboxRequest.of(CreateRequest.of(spec().build(), "bubblewrap")));
    made.add(other.view().id());
    assertThat(output(other.sandbox(), "ls /workspace")).isEmpty();
    // Forks are not claimed from the pool, although their specs match.
    ForkResult fork = fixture.engine.forks().fork(other.view().id(), ForkRequest.of(1)).getFirst();
    made.add(((ForkResult.Created) fork).view().id());
    assertThat(fixture.engine.pool().stats().hits()).isEqualTo(1);
    await().atMost(Duration.ofSeconds(60)).until(() -> pooled().size() == 1);
    pooled().forEach(entry -> made.add(entry.id()));
  }

  private List<SandboxView> pooled() {
    return fixture
        .engine
        .sandboxes()
        .list(SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  @Test
  void unusedLayersAreRemoved() {
    Sandbox source = sandbox();
    furnish(source);
    List<ForkResult> forks = fixture.engine.forks().fork(source.id(), ForkRequest.of(2));
    File layers = folder.resolve("bubblewrap/layers").toFile();
    assertThat(layers.list()).hasSize(1);
    fixture.engine.sandboxes().destroy(source.id(), DestroyOptions.FORCE);
    for (ForkResult fork : forks) {
      assertThat(layers.list()).hasSize(1);
      fixture
          .engine
          .sandboxes()
          .destroy(((ForkResult.Created) fork).view().id(), DestroyOptions.FORCE);
    }
    assertThat(layers.list()).isEmpty();
  }

  @Test
  void incompatibleSnapshotIsRejectedByName() {
    Sandbox source = sandbox();
    Snapshot taken = take(source).snapshot();
    assertThatThrownBy(() -> restored("nowhere", "bubblewrap"))
        .isInstanceOf(NotFound.class)
        .hasMessageContaining("nowhere");
    fixture.engine.close();
    try (SnapshotStore store =
        SnapshotStore.open(
            new FolderBlobStore(folder.resolve("snapshots/store")),
            folder.resolve("snapshots/work"))) {
      foreign(store, taken, "other", "s390x", Snapshot.Kind.FILESYSTEM);
      foreign(store, taken, "frozen", taken.architecture(), Snapshot.Kind.MEMORY);
    }
    try {
      fixture.restart(() -> {});
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    assertThatThrownBy(() -> restored("other", "bubblewrap"))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("s390x");
    assertThatThrownBy(() -> restored("frozen", "bubblewrap"))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("frozen does not contain the spec");
    assertThat(output(restored(taken.id(), "bubblewrap"), "echo works")).isEqualTo("works\n");
  }

  private static void foreign(
      SnapshotStore store, Snapshot like, String id, String architecture, Snapshot.Kind kind) {
    try (SnapshotWriter taking = store.newWriter()) {
      taking.finish(
          counts ->
              new Snapshot(
                  id,
                  Instant.EPOCH,
                  like.sandbox(),
                  like.provider(),
                  like.runtime(),
                  architecture,
                  Map.of(),
                  Optional.empty(),
                  like.root(),
                  List.of(),
                  List.of(),
                  0,
                  0,
                  0,
                  0,
                  counts.checksum(),
                  kind,
                  Optional.empty(),
                  Optional.empty(),
                  Optional.empty()));
    }
  }

  @Test
  void fullDiskFailsTheSnapshotWithoutSideEffects() throws Exception {
    Path full = Files.createDirectories(folder.resolve("snapshots"));
    Assumptions.assumeTrue(
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=3m", "none", full.toString())
                .start()
                .waitFor()
            == 0,
        "no small file system can be mounted here");
    try {
      Sandbox source = sandbox();
      output(source, "head -c 9000000 /dev/urandom > noise; echo kept > kept");
      assertThatThrownBy(() -> take(source))
          .isInstanceOf(LimitExceeded.class)
          .extracting(e -> ((SandboxException) e).code())
          .isEqualTo(ErrorCode.DISK_FULL);
      assertThat(fixture.engine.snapshots().list()).isEmpty();
      assertThat(output(source, "cat kept; rm noise")).isEqualTo("kept\n");
      assertThat(fixture.engine.events().after(0, 1000).stream().map(EventView::type))
          .contains("snapshotFailed");
      assertThat(take(source).snapshot().bytes()).isEqualTo(5);
    } finally {
      fixture.engine.close();
      assertThat(new ProcessBuilder("umount", full.toString()).start().waitFor()).isZero();
      fixture.restart(() -> {});
    }
  }

  @Test
  void removedSnapshotFreesItsSpace() {
    Sandbox source = sandbox();
    output(source, "head -c 3000000 /dev/urandom > noise");
    Snapshot one = take(source).snapshot();
    fixture.engine.snapshots().remove(one.id());
    assertThatThrownBy(() -> fixture.engine.snapshots().get(one.id())).isInstanceOf(NotFound.class);
    assertThat(fixture.engine.snapshots().collect().bytes()).isGreaterThan(2_900_000);
    SnapshotReport again = take(source);
    assertThat(again.incremental()).isFalse();
    assertThat(again.snapshot().newBytes()).isEqualTo(3_000_000);
  }
}
