package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.Startup;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.provider.FakeMemoryForking;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * N4: the engine's part of snapshots of memory, on a fake that declares them. Whether processes
 * continue is a matter of real providers.
 */
class MemorySnapshotTest {
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final String SECRET = "planted-secret-7b21";

  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private EngineFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new EngineFixture(folder, "", fake);
  }

  @AfterEach
  void close() {
    fixture.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private static SandboxSpec.Builder spec(String id) {
    return SandboxSpec.builder(new SandboxId(id));
  }

  private SandboxId create(SandboxSpec spec) {
    return create(spec, Lifecycle.DEFAULT);
  }

  private SandboxId create(SandboxSpec spec, Lifecycle lifecycle) {
    return fixture
        .engine
        .creator()
        .create(
            SandboxRequest.of(CreateRequest.of(spec, FakeMemoryForking.NAME).with(lifecycle))
                .withFixedId())
        .view()
        .id();
  }

  private Snapshot store(SandboxId id) {
    return fixture.engine.snapshots().create(id, SnapshotRequest.MEMORY).snapshot();
  }

  private CreateResult restore(SandboxSpec.Builder spec, Snapshot snapshot, String provider) {
    SandboxSpec full = spec.image(SnapshotImageName.of(snapshot.id())).build();
    return fixture.engine.creator().create(SandboxRequest.of(CreateRequest.of(full, provider)));
  }

  private String output(SandboxId id, String script) {
    return fixture.engine.sandboxes().get(id).run(Command.shell(script)).stdout().text();
  }

  private int inventory() {
    return fixture.registry.get(FakeMemoryForking.NAME).inventory().size()
        + fixture.registry.get("test").inventory().size();
  }

  @Test
  void snapshotOutlivesItsSourceAndTheServer() throws IOException {
    SandboxSpec spec =
        spec("source")
            .env("COLOR", "red")
            .env("SHAPE", "round")
            .cwd("/workspace")
            .limits(ResourceLimits.DEFAULT.withCpu(2))
            .startupTimeout(Duration.ofSeconds(50))
            .seedFile("seed.txt", Bytes.utf8("sown"))
            .init(Command.shell("echo run >> init.txt"))
            .build();
    SandboxId source = create(spec);
    Snapshot snapshot = store(source);
    assertThat(snapshot.kind()).isEqualTo(Snapshot.Kind.MEMORY);
    assertThat(snapshot.provider()).isEqualTo(FakeMemoryForking.NAME);
    assertThat(snapshot.architecture()).isEqualTo(System.getProperty("os.arch"));
    assertThat(snapshot.source().orElseThrow().spec()).doesNotContain("\"id\"", "sown");
    assertThat(fixture.engine.sandboxes().view(source).state()).isEqualTo(SandboxState.RUNNING);
    fixture.engine.sandboxes().destroy(source, DestroyOptions.FORCE);
    fixture.restart(() -> {});

    int before = fake.commands.size();
    SandboxRequest request =
        SandboxRequest.of(
                CreateRequest.auto(
                        spec("copy")
                            .image(SnapshotImageName.of(snapshot.id()))
                            .env("COLOR", "blue")
                            .build())
                    .with(Lifecycle.ttl(Duration.ofHours(3)))
                    .withTags(Map.of("team", "red")))
            .withName("web");
    SandboxView copy = fixture.engine.creator().create(request).view();
    assertThat(fake.commands).as("commands in the new sandbox").hasSize(before);
    assertThat(copy.provider()).isEqualTo(FakeMemoryForking.NAME);
    assertThat(copy.id().value()).isEqualTo("copy");
    assertThat(copy.labels()).isEqualTo(Map.of("team", "red"));
    assertThat(copy.name()).contains("web");
    assertThat(copy.expiresAt()).contains(fixture.clock.instant().plus(Duration.ofHours(3)));
    SandboxSpec stored = SpecCodec.decode(copy.spec(), copy.id()).spec();
    assertThat(stored.env()).isEqualTo(Map.of("COLOR", "blue", "SHAPE", "round"));
    assertThat(stored.limits()).isEqualTo(spec.limits());
    assertThat(stored.init()).isEmpty();
    assertThat(stored.seedFiles()).isEmpty();
    assertThat(output(copy.id(), "cat *.txt")).isEqualTo("run\nsown");

    Snapshot again = store(copy.id());
    fixture.engine.snapshots().remove(snapshot.id());
    SandboxId third = restore(spec("third"), again, "auto").view().id();
    assertThat(output(third, "cat *.txt; echo $SHAPE")).isEqualTo("run\nsownround\n");
  }

  @Test
  void secretsAreRefusedBeforeAnythingIsDoneToTheSource() {
    SandboxId id = create(spec("keeper").secretEnv("API_KEY", Secret.of(SECRET)).build());
    Conflict refused = catchThrowableOfType(Conflict.class, () -> store(id));
    assertThat(refused.fault().problem()).contains("keeper", "API_KEY").doesNotContain(SECRET);
    assertThat(refused.fault().remedy()).contains("allowSecrets: true", "snapshot create");
    assertThat(fake.points).hasValue(0);
    assertThat(fixture.engine.snapshots().list()).isEmpty();

    Snapshot allowed =
        fixture
            .engine
            .snapshots()
            .create(id, SnapshotRequest.MEMORY.withAllowSecrets(true))
            .snapshot();
    assertThat(allowed.toString()).contains("API_KEY").doesNotContain(SECRET);
    SandboxId copy = restore(spec("copy"), allowed, "auto").view().id();
    assertThat(output(copy, "echo \"$API_KEY\"")).as("a secret is never inherited").isEqualTo("\n");
    assertThatThrownBy(() -> store(copy))
        .as("its memory contains the secret")
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("API_KEY");
    assertThatThrownBy(() -> fixture.engine.forks().fork(copy, ForkRequest.of(1, ForkKind.MEMORY)))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("API_KEY");
    assertThat(fixture.ledger.events().after(0, 1000).toString()).doesNotContain(SECRET);
  }

  @Test
  void otherProviderRefusesAndNamesTheOnesThatStoreMemory() {
    SandboxId id =
        fixture
            .engine
            .creator()
            .create(SandboxRequest.of(CreateRequest.of(spec("source").build(), "test")))
            .view()
            .id();
    await().until(() -> fixture.health.current().stream().noneMatch(one -> one.info().isEmpty()));
    Unsupported refused = catchThrowableOfType(Unsupported.class, () -> store(id));
    assertThat(refused.code()).isEqualTo(ErrorCode.NOT_IMPLEMENTED);
    assertThat(refused.fault().problem()).contains("memory of sandbox", "stored", "provider test");
    assertThat(refused.fault().remedy())
        .contains("provider " + FakeMemoryForking.NAME, "kind filesystem");
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void requestForAnythingElseIsRefusedByName() {
    Snapshot snapshot = store(create(spec("source").build()));
    Map<String, UnaryOperator<SandboxSpec.Builder>> changes =
        Map.of(
            "cwd", one -> one.cwd("/tmp"),
            "user", one -> one.user("nobody"),
            "workspaceMount", one -> one.workspaceMount("/other"),
            "startupTimeoutMs", one -> one.startupTimeout(Duration.ofSeconds(7)),
            "lingerSeconds", one -> one.linger(Duration.ofSeconds(7)),
            "resources", one -> one.limits(ResourceLimits.DEFAULT.withMemoryMb(333)),
            "gpus", one -> one.gpus(1),
            "seedFiles", one -> one.seedFile("a", Bytes.utf8("b")),
            "init", one -> one.init(Command.shell("true")));
    changes.forEach(
        (field, change) ->
            assertThatThrownBy(
                    () -> restore(change.apply(spec("copy")), snapshot, FakeMemoryForking.NAME))
                .as(field)
                .isInstanceOf(InvalidRequest.class)
                .hasMessageContaining(field));
    assertThatThrownBy(() -> restore(spec("copy"), snapshot, "test"))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("provider must be " + FakeMemoryForking.NAME);
    SandboxSpec forced = spec("copy").image(SnapshotImageName.of(snapshot.id()) + "+force").build();
    assertThatThrownBy(
            () -> fixture.engine.creator().create(SandboxRequest.of(CreateRequest.auto(forced))))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("+force");
    SandboxSpec plain = spec("copy").image(SnapshotImageName.of(snapshot.id())).build();
    assertThatThrownBy(
            () ->
                fixture
                    .engine
                    .creator()
                    .create(
                        SandboxRequest.of(CreateRequest.auto(plain))
                            .withStartup(Startup.NONE.withStart(Command.shell("true")))))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("startup");
    assertThat(fake.forks).hasValue(0);
    assertThat(inventory()).isEqualTo(1);
  }

  @Test
  void failedRestoreDoesNotFallBackToAnotherProvider() {
    Snapshot snapshot = store(create(spec("source").build()));
    fake.beforeFork =
        number -> {
          throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "it does not start", "").exception();
        };
    assertThatThrownBy(() -> restore(spec("copy"), snapshot, "auto"))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("it does not start");
    assertThat(inventory()).isEqualTo(1);
  }

  @Test
  void tamperedOrTruncatedSnapshotStartsNothing() throws IOException {
    SandboxId source = create(spec("source").build());
    output(source, "head -c 300000 /dev/urandom > noise");
    Snapshot snapshot = store(source);
    List<Path> blobs;
    try (Stream<Path> all = Files.walk(folder.resolve("snapshots/store"))) {
      blobs = all.filter(Files::isRegularFile).toList();
    }
    int damaged = 0;
    for (Path blob : blobs) {
      byte[] before = Files.readAllBytes(blob);
      if (before.length == 0) {
        continue;
      }
      byte[] flipped = before.clone();
      flipped[before.length / 2] ^= 1;
      for (byte[] bad : List.of(flipped, Arrays.copyOf(before, before.length / 2))) {
        Files.write(blob, bad);
        fixture.restart(() -> {});
        try {
          restore(spec("copy" + damaged), snapshot, "auto");
          throw new AssertionError("restored with a damaged " + blob);
        } catch (SandboxException e) {
          assertThat(e.code()).as("%s", e).isEqualTo(ErrorCode.SNAPSHOT_DAMAGED);
          damaged++;
        }
        assertThat(fake.forks).as("%s", blob).hasValue(0);
        assertThat(inventory()).isEqualTo(1);
      }
      Files.write(blob, before);
    }
    assertThat(damaged).as("damaged copies of %s", blobs).isGreaterThanOrEqualTo(4);
    fixture.restart(() -> {});
    assertThat(restore(spec("copy"), snapshot, "auto").view().state())
        .isEqualTo(SandboxState.RUNNING);
  }

  @Test
  void sourceRunsWhileItIsStored() {
    SandboxId id = create(spec("source").build());
    List<String> outputs = new ArrayList<>();
    fake.beforeArchive = () -> outputs.add(output(id, "echo later > later; echo runs"));
    Snapshot snapshot = store(id);
    assertThat(outputs).containsExactly("runs\n");
    SandboxId copy = restore(spec("copy"), snapshot, "auto").view().id();
    assertThat(output(copy, "ls")).as("what was written later").isEmpty();
  }

  @Test
  void failureToSaveOrStoreLeavesTheSourceAndNoSnapshot() {
    SandboxId id = create(spec("source").build());
    Runnable failure =
        () -> {
          throw Fault.of(ErrorCode.CONFLICT, "a removed file is open", "close it").exception();
        };
    List<Consumer<Runnable>> hooks =
        List.of(one -> fake.beforePoint = one, one -> fake.beforeArchive = one);
    for (Consumer<Runnable> hook : hooks) {
      hook.accept(failure);
      assertThatThrownBy(() -> store(id))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("a removed file is open");
      hook.accept(() -> {});
      assertThat(fixture.engine.snapshots().list()).isEmpty();
      assertThat(fake.open).hasValue(0);
      assertThat(output(id, "echo runs")).isEqualTo("runs\n");
    }
    assertThat(fixture.engine.events().after(0, 1000).stream().map(EventView::type))
        .contains("snapshotFailed");
  }

  @Test
  void fullDiskFailsTheSnapshotWithoutSideEffects() throws Exception {
    Path full = Files.createDirectories(folder.resolve("snapshots"));
    Assumptions.assumeTrue(
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=3m", "none", full.toString())
                .start()
                .waitFor()
            == 0,
        "NOT RUN: no small file system can be mounted here");
    try {
      SandboxId id = create(spec("source").build());
      output(id, "head -c 9000000 /dev/urandom > noise");
      LimitExceeded refused = catchThrowableOfType(LimitExceeded.class, () -> store(id));
      assertThat(refused.code()).isEqualTo(ErrorCode.DISK_FULL);
      assertThat(fake.open).as("what was saved").hasValue(0);
      assertThat(fixture.engine.snapshots().list()).isEmpty();
      assertThat(output(id, "rm noise; echo runs")).isEqualTo("runs\n");
      assertThat(store(id).kind()).isEqualTo(Snapshot.Kind.MEMORY);
    } finally {
      fixture.engine.close();
      assertThat(new ProcessBuilder("umount", full.toString()).start().waitFor()).isZero();
      fixture.restart(() -> {});
    }
  }

  @Test
  void concurrentRestoresAreDifferentSandboxes() throws InterruptedException {
    Snapshot snapshot = store(create(spec("source").build()));
    Set<String> ids = ConcurrentHashMap.newKeySet();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      SandboxSpec.Builder spec = spec("copy" + i);
      threads.add(
          Thread.ofVirtual()
              .start(() -> ids.add(restore(spec, snapshot, "auto").view().id().value())));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(ids).hasSize(4);
    assertThat(inventory()).isEqualTo(5);
  }

  @Test
  void filesOfMemoryCannotBeCompared() {
    SandboxId id = create(spec("source").build());
    Snapshot memory = store(id);
    Snapshot files = fixture.engine.snapshots().create(id, SnapshotRequest.WORKSPACE).snapshot();
    for (List<Snapshot> pair : List.of(List.of(memory, files), List.of(files, memory))) {
      assertThatThrownBy(
              () ->
                  fixture.engine.snapshots().difference(pair.getFirst().id(), pair.getLast().id()))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining(memory.id() + " is of kind memory");
    }
  }

  @Test
  void warmPoolIsNotFilledFromMemory() throws IOException {
    Snapshot snapshot = store(create(spec("source").build()));
    String image = SnapshotImageName.of(snapshot.id());
    fixture.close();
    fixture =
        new EngineFixture(
            folder,
            "pool:\n  - size: 1\n    provider: %s\n    spec: {image: '%s'}\n"
                .formatted(FakeMemoryForking.NAME, image),
            fake);
    await().until(() -> fixture.log.warnings.toString().contains("warm pool cannot be filled"));
    assertThat(fake.forks).hasValue(0);
    restore(spec("copy"), snapshot, "auto");
    assertThat(fake.forks).hasValue(1);
    assertThat(fixture.engine.pool().stats().hits()).isZero();
  }

  @Test
  void snapshotsAreCollectedAsOthers() {
    SandboxId id = create(spec("source").build());
    output(id, "head -c 3000000 /dev/urandom > noise");
    Snapshot first = store(id);
    Snapshot second = store(id);
    assertThat(first.newBytes()).isGreaterThan(3_000_000);
    assertThat(second.newBytes()).as("chunks are shared").isLessThan(1_000_000);
    fixture.engine.snapshots().remove(first.id());
    fixture.engine.snapshots().collect();
    SandboxId copy = restore(spec("copy"), second, "auto").view().id();
    assertThat(output(copy, "wc -c < noise").strip()).isEqualTo("3000000");
    fixture.engine.snapshots().remove(second.id());
    assertThat(fixture.engine.snapshots().collect().bytes()).isGreaterThan(2_900_000);
    assertThatThrownBy(() -> restore(spec("late"), second, "auto")).isInstanceOf(NotFound.class);
  }

  private SandboxId suspended(SandboxSpec spec) {
    SandboxId id =
        create(spec, Lifecycle.DEFAULT.withWhenIdle(ExpiryAction.SNAPSHOT).withIdleTimeout(IDLE));
    output(id, "echo kept > kept");
    fixture.clock.pass(IDLE.plusSeconds(1));
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                fixture.engine.sandboxes().view(id).state() == SandboxState.STOPPED
                    && fixture.registry.get(FakeMemoryForking.NAME).inventory().isEmpty());
    return id;
  }

  private Set<Snapshot.Kind> kinds() {
    Set<Snapshot.Kind> kinds = new HashSet<>();
    fixture.engine.snapshots().list().forEach(one -> kinds.add(one.kind()));
    return kinds;
  }

  @Test
  void idleSandboxIsStoredWithItsMemory() throws IOException {
    SandboxId id = suspended(spec("sleeper").build());
    assertThat(kinds()).containsExactlyInAnyOrder(Snapshot.Kind.values());
    fixture.engine.snapshots().collect();
    assertThat(kinds()).as("both are kept").hasSize(2);
    fixture.restart(() -> {});
    long generation = fixture.engine.sandboxes().bootGeneration(id);
    assertThat(output(id, "cat kept")).isEqualTo("kept\n");
    assertThat(fixture.engine.sandboxes().bootGeneration(id))
        .as("processes continue")
        .isEqualTo(generation);
    assertThat(fake.specs).singleElement().extracting(SandboxSpec::id).isEqualTo(id);
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void idleSandboxWhoseMemoryCannotBeSavedIsStoredWithItsFiles() {
    fake.beforePoint =
        () -> {
          throw Fault.of(ErrorCode.CONFLICT, "a removed file is open", "close it").exception();
        };
    SandboxId id = suspended(spec("sleeper").build());
    assertThat(kinds()).containsExactly(Snapshot.Kind.FILESYSTEM);
    assertThat(output(id, "cat kept")).isEqualTo("kept\n");
    assertThat(fake.forks).hasValue(0);
  }

  @Test
  void secretsOfAnIdleSandboxAreNotStored() {
    SandboxId id = suspended(spec("sleeper").secretEnv("API_KEY", Secret.of(SECRET)).build());
    assertThat(fake.points).hasValue(0);
    assertThat(kinds()).containsExactly(Snapshot.Kind.FILESYSTEM);
    assertThat(output(id, "echo $API_KEY")).isEqualTo(SECRET + "\n");
  }

  @Test
  void memoryThatCannotContinueIsResumedWithItsFiles() {
    SandboxId id = suspended(spec("sleeper").build());
    fake.beforeFork =
        number -> {
          throw Fault.of(ErrorCode.INVALID_REQUEST, "another runtime", "").exception();
        };
    long generation = fixture.engine.sandboxes().bootGeneration(id);
    assertThat(output(id, "cat kept")).isEqualTo("kept\n");
    assertThat(fixture.engine.sandboxes().bootGeneration(id)).isNotEqualTo(generation);
    assertThat(fixture.log.warnings).anyMatch(line -> line.contains("another runtime"));
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void destroyedSandboxLeavesNoSnapshot() {
    SandboxId id = suspended(spec("sleeper").build());
    fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }
}
