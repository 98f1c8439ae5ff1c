package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.Startup;
import dev.isola.engine.api.snapshot.ForkService;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.Bytes;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.provider.FakeMemoryForking;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * N4: the engine's part of forks of memory, on a fake that declares them. Whether processes
 * continue is a matter of real providers.
 */
class MemoryForkTest {
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final String SECRET = "planted-secret-1c9f";

  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private final FakeProvider unhealthy = new FakeProvider("docker").ill("not running");
  private EngineFixture fixture;

  @BeforeEach
  void open() throws IOException {
    String limits =
        """
        admission:
          cpu: 8
          cpu_overcommit: 1
          queue_timeout: 0s
        """;
    fixture = new EngineFixture(folder, limits, fake, unhealthy);
  }

  @AfterEach
  void close() {
    fixture.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private static SandboxSpec.Builder spec(String id) {
    return SandboxSpec.builder(new SandboxId(id)).limits(ResourceLimits.DEFAULT.withCpu(1));
  }

  private SandboxView create(SandboxSpec spec) {
    return create(spec, FakeMemoryForking.NAME, Lifecycle.DEFAULT);
  }

  private SandboxView create(SandboxSpec spec, String provider, Lifecycle lifecycle) {
    return fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, provider).with(lifecycle)).withFixedId())
        .view();
  }

  private static ForkRequest memory(int count) {
    return ForkRequest.of(count, ForkKind.MEMORY);
  }

  private List<ForkResult> fork(SandboxId id, int count) {
    return fixture.engine.forks().fork(id, memory(count));
  }

  private static ForkResult.Created created(ForkResult result) {
    assertThat(result).isInstanceOf(ForkResult.Created.class);
    return (ForkResult.Created) result;
  }

  private void assertUntouched(SandboxId id, SandboxState state) {
    assertThat(fake.points).as("fork points").hasValue(0);
    assertThat(fake.forks).as("forks").hasValue(0);
    assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(state);
  }

  @Test
  void secretsAreRefusedBeforeAnythingIsDoneToTheSource() {
    SandboxId id =
        create(
                spec("keeper").secretEnv("API_KEY", Secret.of(SECRET)).build(),
                FakeMemoryForking.NAME,
                Lifecycle.ttl(Duration.ofHours(9))
                    .withWhenIdle(ExpiryAction.PAUSE)
                    .withIdleTimeout(IDLE))
            .id();
    fixture.clock.pass(IDLE.plusSeconds(1));
    await().until(() -> fixture.engine.sandboxes().view(id).state() == SandboxState.PAUSED);

    Conflict refused = catchThrowableOfType(Conflict.class, () -> fork(id, 2));
    assertThat(refused.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(refused.fault().problem()).contains("keeper", "API_KEY").doesNotContain(SECRET);
    assertThat(refused.fault().remedy()).contains("allowSecrets: true", "--allow-secrets");
    assertUntouched(id, SandboxState.PAUSED);

    SandboxId fork =
        created(fixture.engine.forks().fork(id, memory(1).withAllowSecrets(true)).getFirst())
            .view()
            .id();
    assertThat(
            fixture
                .engine
                .sandboxes()
                .get(fork)
                .run(Command.shell("echo $API_KEY"))
                .stdout()
                .text())
        .isEqualTo(SECRET + "\n");
    assertThatThrownBy(() -> fork(fork, 1))
        .as("a fork holds them too")
        .isInstanceOf(Conflict.class);
    assertThat(fixture.ledger.events().after(0, 1000).toString()).doesNotContain(SECRET);
  }

  @Test
  void invalidCountsAreRefused() {
    SandboxId id = create(spec("source").build()).id();
    for (int count : List.of(Integer.MIN_VALUE, -1, 0, 101, Integer.MAX_VALUE)) {
      assertThatThrownBy(() -> fork(id, count))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining(count + " forks");
    }
    assertUntouched(id, SandboxState.RUNNING);
  }

  @Test
  void sourceThatIsGoneOrUnknownIsRefused() {
    SandboxId id = create(spec("source").build()).id();
    fixture.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    assertThatThrownBy(() -> fork(id, 1)).isInstanceOf(Gone.class);
    assertThatThrownBy(() -> fork(new SandboxId("unknown"), 1)).isInstanceOf(NotFound.class);
    assertUntouched(id, SandboxState.DESTROYED);
  }

  @Test
  void otherProviderRefusesAndNamesTheOnesThatForkMemory() {
    SandboxId id = create(spec("source").build(), "test", Lifecycle.DEFAULT).id();
    await().until(() -> fixture.health.current().stream().noneMatch(one -> one.info().isEmpty()));
    Unsupported refused = catchThrowableOfType(Unsupported.class, () -> fork(id, 1));
    assertThat(refused.code()).isEqualTo(ErrorCode.NOT_IMPLEMENTED);
    assertThat(refused.fault().problem()).contains("sandbox source", "provider test");
    assertThat(refused.fault().remedy())
        .contains("provider " + FakeMemoryForking.NAME, "kind filesystem")
        .doesNotContain(unhealthy.name());
    assertUntouched(id, SandboxState.RUNNING);
    assertThat(fixture.registry.get("test").inventory()).hasSize(1);
  }

  @Test
  void oneFailingForkDoesNotAffectTheOthers() {
    SandboxId id = create(spec("source").build()).id();
    fake.beforeFork =
        number -> {
          if (number == 2) {
            throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "no space left", "free some")
                .exception();
          }
          if (number == 3) {
            throw new IllegalStateException("a bug of the provider");
          }
        };
    List<ForkResult> forks = fork(id, 5);
    assertThat(forks).hasSize(5);
    List<ForkResult.Failed> failed =
        forks.stream()
            .filter(ForkResult.Failed.class::isInstance)
            .map(ForkResult.Failed.class::cast)
            .toList();
    assertThat(failed)
        .extracting(one -> one.why().code())
        .containsExactlyInAnyOrder(ErrorCode.PROVIDER_UNAVAILABLE, ErrorCode.INTERNAL);
    assertThat(fake.points).as("one checkpoint for all").hasValue(1);
    assertThat(fixture.registry.get(FakeMemoryForking.NAME).inventory()).hasSize(4);
    assertThat(fixture.engine.reserved(FakeMemoryForking.NAME).milliCpu()).isEqualTo(4000);
  }

  @Test
  void forkPointThatCannotBeCreatedIsAnErrorWithoutForks() {
    SandboxId id = create(spec("source").build()).id();
    fake.beforePoint =
        () -> {
          throw Fault.of(ErrorCode.CONFLICT, "a removed file is open", "close it").exception();
        };
    assertThatThrownBy(() -> fork(id, 3))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("a removed file is open");
    assertThat(fake.forks).as("no fallback to files").hasValue(0);
    assertThat(fixture.engine.snapshots().list()).isEmpty();
    assertThat(fixture.registry.get(FakeMemoryForking.NAME).inventory()).hasSize(1);
  }

  @Test
  void forkPointThatCannotBeClosedDoesNotConcealTheForks() {
    SandboxId id = create(spec("source").build()).id();
    fake.afterClose =
        () -> {
          throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "busy", "wait").exception();
        };
    assertThat(fork(id, 2)).allMatch(ForkResult.Created.class::isInstance);
    assertThat(fixture.log.warnings).anyMatch(line -> line.contains("fork sandbox source"));
  }

  @Test
  void forksBeyondTheCapacityFail() {
    SandboxId id = create(spec("source").build()).id();
    List<ForkResult> forks = fork(id, 10);
    assertThat(forks).filteredOn(ForkResult.Created.class::isInstance).hasSize(7);
    assertThat(forks)
        .filteredOn(ForkResult.Failed.class::isInstance)
        .hasSize(3)
        .allMatch(one -> ((ForkResult.Failed) one).why().code() == ErrorCode.RESOURCE_LIMIT);
    assertThat(fake.points).hasValue(1);
  }

  @Test
  void forksInheritTheSpecAndNothingRunsInThem() {
    SandboxSpec spec =
        spec("source")
            .env("COLOR", "red")
            .cwd("/workspace")
            .seedFile("seed.txt", Bytes.utf8("sown"))
            .init(Command.shell("echo run >> init.txt"))
            .startupTimeout(Duration.ofSeconds(50))
            .build();
    SandboxView source =
        fixture
            .engine
            .creator()
            .create(
                SandboxRequest.of(
                        CreateRequest.of(spec, FakeMemoryForking.NAME)
                            .with(Lifecycle.ttl(Duration.ofHours(9)).withIdleTimeout(IDLE))
                            .withTags(Map.of("team", "red")))
                    .withTenant("acme")
                    .withLabels(Map.of("team", "red", "isola.e2b.template", "t"))
                    .withName("web")
                    .withFixedId())
            .view();
    int before = fake.commands.size();
    fixture.clock.pass(Duration.ofHours(1));
    fixture.engine.sandboxes().get(source.id());

    Startup startup = Startup.NONE.withStart(Command.shell("echo started >> init.txt"));
    List<ForkResult> forks =
        fixture.engine.forks().fork(source.id(), memory(3).withStartup(startup));

    assertThat(fake.points).hasValue(1);
    assertThat(fake.commands).as("commands in forks").hasSize(before);
    assertThat(fake.specs).hasSize(3).extracting(SandboxSpec::id).doesNotHaveDuplicates();
    assertThat(fake.specs)
        .allSatisfy(
            one -> {
              assertThat(one.env()).isEqualTo(spec.env());
              assertThat(one.limits()).isEqualTo(spec.limits());
              assertThat(one.seedFiles()).isEmpty();
              assertThat(one.init()).isEmpty();
            });
    for (ForkResult fork : forks) {
      assertThat(created(fork).method()).isEqualTo(ForkResult.Method.MEMORY);
      SandboxView view = created(fork).view();
      assertThat(view.tenant()).isEqualTo("acme");
      assertThat(view.labels())
          .containsAllEntriesOf(source.labels())
          .hasSize(source.labels().size() + 1)
          .containsEntry(ForkService.FORK_OF, source.id().value());
      assertThat(view.provider()).isEqualTo(FakeMemoryForking.NAME);
      assertThat(view.idleTimeout()).contains(IDLE);
      assertThat(view.expiresAt()).contains(fixture.clock.instant().plus(Duration.ofHours(9)));
      assertThat(view.name()).isEmpty();
      assertThat(
              fixture
                  .engine
                  .sandboxes()
                  .get(view.id())
                  .run(Command.shell("cat *.txt"))
                  .stdout()
                  .text())
          .isEqualTo("run\nsown");
    }
    assertThat(fixture.engine.snapshots().list()).isEmpty();
  }

  @Test
  void sourceFromASnapshotIsForkedWithTheImageBelowIt() {
    SandboxId first = create(spec("first").build()).id();
    fixture.engine.sandboxes().get(first).run(Command.shell("echo kept > kept"));
    String snapshot =
        fixture.engine.snapshots().create(first, SnapshotRequest.EVERYTHING).snapshot().id();
    SandboxId source = create(spec("second").image(SnapshotImageName.of(snapshot)).build()).id();
    fixture.engine.snapshots().remove(snapshot);

    SandboxView fork = created(fork(source, 1).getFirst()).view();
    assertThat(fake.specs)
        .singleElement()
        .extracting(SandboxSpec::image)
        .isEqualTo(Optional.empty());
    assertThat(SpecCodec.decode(fork.spec(), fork.id()).spec().image()).isEmpty();
    assertThat(
            fixture
                .engine
                .sandboxes()
                .get(fork.id())
                .run(Command.shell("cat kept"))
                .stdout()
                .text())
        .isEqualTo("kept\n");
  }

  @Test
  void pausedSourceIsForkedAsItIs() {
    SandboxId id = create(spec("source").build()).id();
    fixture.engine.sandboxes().pause(id, PauseKind.MEMORY);
    created(fork(id, 1).getFirst());
    assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.PAUSED);
  }

  @Test
  void sourceIsNotSuspendedWhileItIsForked() {
    Lifecycle pausing = Lifecycle.DEFAULT.withWhenIdle(ExpiryAction.PAUSE).withIdleTimeout(IDLE);
    SandboxId id = create(spec("source").build(), FakeMemoryForking.NAME, pausing).id();
    SandboxId other = create(spec("other").build(), FakeMemoryForking.NAME, pausing).id();
    fake.beforePoint =
        () -> {
          fixture.clock.pass(IDLE.plusSeconds(1));
          await()
              .until(() -> fixture.engine.sandboxes().view(other).state() == SandboxState.PAUSED);
        };
    created(fork(id, 1).getFirst());
    assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.RUNNING);
  }
}
