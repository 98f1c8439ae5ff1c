package dev.isola.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.LedgerConfig;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SqliteTestDatabase;
import dev.isola.store.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String POOL =
      """
      pool:
        - provider: test
          size: 2
          spec:
            env: {KIND: warm}
      """;

  @TempDir Path folder;
  private LedgerConfig ledger;

  /** The location of the ledgers of these tests. */
  TestDatabase database() {
    return new SqliteTestDatabase();
  }

  @BeforeEach
  void chooseLedger() {
    ledger = database().fresh();
  }

  @AfterEach
  void removeLedger() {
    database().remove(ledger);
  }

  private EngineFixture fixture(String yaml, ProviderFactory... more) throws IOException {
    return new EngineFixture(folder, ledger, yaml, more);
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM));
  }

  private CreateRequest brief() {
    return CreateRequest.of(spec().build(), "test").withTtl(Duration.ofMinutes(1));
  }

  private static SandboxRequest request(SandboxSpec spec) {
    return SandboxRequest.of(CreateRequest.of(spec, "test"));
  }

  private static String echo(CreateResult delivery) {
    return delivery.sandbox().run(Command.shell("echo works")).stdout().text();
  }

  private static List<String> types(EngineFixture fixture, SandboxId id) {
    return fixture.engine.events().after(0, 1000).stream()
        .filter(event -> event.sandbox().filter(id::equals).isPresent())
        .map(EventView::type)
        .toList();
  }

  @Test
  void stateChangesAreRecordedWithEvents() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      CreateResult delivery = fixture.engine.creator().create(request(spec().build()));
      SandboxId id = delivery.view().id();
      assertThat(echo(delivery)).isEqualTo("works\n");
      assertThat(delivery.view().provider()).isEqualTo("test");
      assertThat(delivery.view().isolation()).isEqualTo(Isolation.PROCESS);
      assertThat(delivery.view().warm()).isFalse();
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.RUNNING);

      fixture.engine.sandboxes().destroy(id, DestroyOptions.NORMAL);
      fixture.engine.sandboxes().destroy(id, DestroyOptions.NORMAL);
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(types(fixture, id)).containsExactly("spawn", "ready", "stateChange", "terminate");
      assertThatThrownBy(() -> fixture.engine.sandboxes().get(id)).isInstanceOf(Gone.class);
      assertThatThrownBy(() -> fixture.engine.sandboxes().get(new SandboxId("never")))
          .isInstanceOf(NotFound.class);
    }
  }

  @Test
  void repeatedRequestCreatesNoSecondSandbox() throws Exception {
    try (EngineFixture fixture = fixture("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<CreateResult> client =
          () -> fixture.engine.creator().create(request(spec().build()).withIdempotencyKey("k1"));
      Set<SandboxId> ids = new java.util.HashSet<>();
      for (Future<CreateResult> made :
          clients.invokeAll(java.util.Collections.nCopies(16, client))) {
        ids.add(made.get().view().id());
      }
      assertThat(ids).hasSize(1);
      assertThat(fixture.registry.get("test").inventory()).hasSize(1);
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .creator()
                      .create(request(spec().env("A", "1").build()).withIdempotencyKey("k1")))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("a different request");
    }
  }

  @Test
  void expiredSandboxIsDestroyedAndARenewedOneIsNot() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId ends = fixture.engine.creator().create(SandboxRequest.of(brief())).view().id();
      SandboxId renewed = fixture.engine.creator().create(SandboxRequest.of(brief())).view().id();
      SandboxId idle =
          fixture
              .engine
              .creator()
              .create(request(spec().build()).withIdleTimeout(Duration.ofSeconds(30)))
              .view()
              .id();
      fixture.engine.sandboxes().renew(renewed, Duration.ofHours(1));
      fixture.clock.pass(Duration.ofMinutes(2));
      await()
          .untilAsserted(
              () -> {
                assertThat(fixture.engine.sandboxes().view(ends).state())
                    .isEqualTo(SandboxState.DESTROYED);
                assertThat(fixture.engine.sandboxes().view(idle).state())
                    .isEqualTo(SandboxState.DESTROYED);
              });
      assertThat(fixture.engine.sandboxes().view(ends).cause()).hasValue("it expired");
      assertThat(fixture.engine.sandboxes().view(idle).cause().orElse(""))
          .startsWith("it was idle");
      assertThat(fixture.engine.sandboxes().view(renewed).state()).isEqualTo(SandboxState.RUNNING);
      assertThatThrownBy(() -> fixture.engine.sandboxes().renew(ends, Duration.ofHours(1)))
          .isInstanceOf(Gone.class);
    }
  }

  private static SandboxId idleSoon(EngineFixture fixture) {
    SandboxRequest sandboxRequest = request(spec().build()).withIdleTimeout(Duration.ofSeconds(30));
    return fixture.engine.creator().create(sandboxRequest).view().id();
  }

  @Test
  void sandboxInUseIsNotIdle() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId idle = idleSoon(fixture);
      SandboxId commanded = idleSoon(fixture);
      SandboxId attached = idleSoon(fixture);
      SandboxId typed = idleSoon(fixture);
      SandboxId read = idleSoon(fixture);
      SandboxId left = idleSoon(fixture);
      List<SandboxId> used = List.of(commanded, attached, typed, read);
      Command silent = Command.shell("sleep 1000");
      Execution running = fixture.engine.sandboxes().get(commanded).start(silent);
      Sandbox other = fixture.engine.sandboxes().get(attached);
      ExecutionId begun = leave(other.start(silent));
      Execution again = other.as(Attaching.class).orElseThrow().attach(begun, 0);
      Execution terminal =
          fixture
              .engine
              .sandboxes()
              .get(typed)
              .as(Terminals.class)
              .orElseThrow()
              .open(silent, new TerminalSize(80, 24));
      fixture.engine.sandboxes().get(read).files().writeText("file", "content", UTF_8);
      InputStream content =
          fixture.engine.sandboxes().get(read).files().read("file", ReadRange.ALL);
      leave(fixture.engine.sandboxes().get(left).start(silent));

      fixture.clock.pass(Duration.ofMinutes(2));
      awaitDestroyed(fixture, List.of(idle, left));
      assertThat(used)
          .extracting(id -> fixture.engine.sandboxes().view(id).state())
          .containsOnly(SandboxState.RUNNING);

      running.close();
      again.close();
      ExecutionId shown = leave(terminal);
      try (Execution same =
          fixture
              .engine
              .sandboxes()
              .get(typed)
              .as(Attaching.class)
              .orElseThrow()
              .attach(shown, 0)) {
        assertThat(same).isInstanceOf(Terminal.class);
      }
      content.close();
      // Getting the sandbox counts as activity.
      await()
          .untilAsserted(
              () -> {
                fixture.clock.pass(Duration.ofMinutes(2));
                assertThat(used)
                    .extracting(id -> fixture.engine.sandboxes().view(id).state())
                    .containsOnly(SandboxState.DESTROYED);
              });
    }
  }

  private static ExecutionId leave(Execution execution) {
    execution.close();
    return execution.id();
  }

  private static void awaitDestroyed(EngineFixture fixture, List<SandboxId> all) {
    await()
        .untilAsserted(
            () ->
                assertThat(all)
                    .extracting(id -> fixture.engine.sandboxes().view(id).state())
                    .containsOnly(SandboxState.DESTROYED));
  }

  @Test
  void pauseAndResumeAreRecorded() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId id = fixture.engine.creator().create(request(spec().build())).view().id();
      assertThat(fixture.engine.sandboxes().pause(id, PauseKind.MEMORY).state())
          .isEqualTo(SandboxState.PAUSED);
      assertThat(fixture.engine.sandboxes().resume(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void runningSandboxesSurviveARestart() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId id = fixture.engine.creator().create(request(spec().build())).view().id();
      fixture.restart(() -> {});
      assertThat(
              fixture.engine.sandboxes().get(id).run(Command.shell("echo still")).stdout().text())
          .isEqualTo("still\n");
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void crashRemainsAreRemoved() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId half = new SandboxId("half");
      SandboxId unknown = new SandboxId("unknown");
      SandboxId lost = fixture.engine.creator().create(request(spec().build())).view().id();
      fixture.restart(
          () -> {
            // Leaves an intent without a sandbox, a sandbox without an intent, and a recorded
            // sandbox that is gone.
            fixture
                .ledger
                .sandboxes()
                .insert(
                    SandboxEntry.intent(
                            half, "{}", "hash", "test", Isolation.PROCESS, fixture.clock.instant())
                        .build());
            try (var provider =
                new dev.isola.testing.provider.TestProviderFactory()
                    .create(
                        dev.isola.spi.provider.ProviderConfig.EMPTY,
                        new dev.isola.spi.provider.ProviderContext(
                            fixture.instance(), folder.resolve("test"), fixture.clock))) {
              provider.create(SandboxSpec.builder(unknown).build());
              provider.destroy(lost, DestroyOptions.FORCE);
            }
          });
      assertThat(fixture.engine.sandboxes().view(half).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(half).cause().orElse(""))
          .contains("while the sandbox was being created");
      assertThat(fixture.engine.sandboxes().view(lost).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(lost).cause().orElse("")).startsWith("lost: ");
      assertThat(fixture.registry.get("test").inventory()).isEmpty();
    }
  }

  @Test
  void halfCreatedExpiredSandboxIsDestroyed() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId half = new SandboxId("half");
      fixture.restart(
          () ->
              fixture
                  .ledger
                  .sandboxes()
                  .insert(
                      SandboxEntry.intent(
                              half,
                              "{}",
                              "hash",
                              "test",
                              Isolation.PROCESS,
                              fixture.clock.instant())
                          .expiresAt(fixture.clock.instant().minusSeconds(1))
                          .build()));
      assertThat(fixture.engine.sandboxes().view(half).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(half).cause().orElse(""))
          .contains("while the sandbox was being created");
    }
  }

  @Test
  void failedAttemptsAreRecorded() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "no room");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture fixture = fixture("", gvisor, bubblewrap)) {
      CreateResult delivery =
          fixture.engine.creator().create(SandboxRequest.of(CreateRequest.auto(spec().build())));
      assertThat(delivery.view().provider()).isEqualTo("bubblewrap");
      assertThat(delivery.view().attempts())
          .singleElement()
          .satisfies(
              attempt -> {
                assertThat(attempt.provider()).isEqualTo("gvisor");
                assertThat(attempt.reason()).contains("no room");
              });
    }
  }

  @Test
  void failedCreateLeavesNothingBehind() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "no room");
    try (EngineFixture fixture = fixture("", gvisor)) {
      SandboxSpec spec = spec().build();
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .creator()
                      .create(SandboxRequest.of(CreateRequest.of(spec, "gvisor"))))
          .hasMessageContaining("no room");
      assertThat(fixture.engine.sandboxes().view(spec.id()).state())
          .isEqualTo(SandboxState.DESTROYED);
      assertThat(
              fixture
                  .engine
                  .sandboxes()
                  .list(SandboxListFilter.ALL.notDestroyed(), "", 10)
                  .entries())
          .isEmpty();
    }
  }

  @Test
  void warmSandboxesAreClaimedOnceAndReplaced() throws Exception {
    try (EngineFixture fixture = fixture(POOL);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      await().until(() -> pooled(fixture) == 2);
      Callable<CreateResult> client =
          () -> fixture.engine.creator().create(request(spec().env("KIND", "warm").build()));
      Set<SandboxId> ids = new java.util.HashSet<>();
      int warm = 0;
      for (Future<CreateResult> made :
          clients.invokeAll(java.util.Collections.nCopies(8, client))) {
        ids.add(made.get().view().id());
        warm += made.get().view().warm() ? 1 : 0;
        assertThat(echo(made.get())).isEqualTo("works\n");
      }
      assertThat(ids).hasSize(8);
      assertThat(warm).isGreaterThanOrEqualTo(2);
      await().until(() -> pooled(fixture) == 2);

      CreateResult cold =
          fixture.engine.creator().create(request(spec().env("KIND", "other").build()));
      assertThat(cold.view().warm()).isFalse();
      assertThat(fixture.engine.pool().stats().hits()).isEqualTo(warm);
      assertThat(fixture.engine.pool().stats().misses()).containsKey("no pool for this spec");
      assertThat(fixture.log.infos).anyMatch(line -> line.contains("no pool for this spec"));
    }
  }

  /**
   * A repeated request whose first attempt failed creates a sandbox instead of returning the
   * failure.
   */
  @Test
  void keyOfAFailedCreateIsReleased() throws Exception {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "not today");
    try (EngineFixture fixture = fixture("", gvisor)) {
      Callable<CreateResult> client =
          () ->
              fixture
                  .engine
                  .creator()
                  .create(
                      SandboxRequest.of(CreateRequest.of(spec().build(), "gvisor"))
                          .withIdempotencyKey("k"));
      assertThatThrownBy(client::call).hasMessageContaining("not today");
      gvisor.failure = null;
      CreateResult made = client.call();
      assertThat(made.repeated()).isFalse();
      assertThat(client.call().view().id()).isEqualTo(made.view().id());
      fixture.engine.sandboxes().destroy(made.view().id(), DestroyOptions.NORMAL);
      assertThatThrownBy(client::call).isInstanceOf(Gone.class);
    }
  }

  /** A claimed sandbox belongs to its tenant like a new one, and its idempotency key is bound. */
  @Test
  void claimedSandboxBelongsToItsClient() throws IOException {
    try (EngineFixture fixture = fixture(POOL)) {
      for (String tenant : List.of("red", "blue")) {
        await().until(() -> pooled(fixture) == 2);
        CreateResult delivery =
            fixture
                .engine
                .creator()
                .create(
                    request(spec().env("KIND", "warm").build())
                        .withTenant(tenant)
                        .withIdempotencyKey("one"));
        assertThat(delivery.view().warm()).isTrue();
        assertThat(delivery.repeated()).isFalse();
        assertThat(delivery.view().tenant()).isEqualTo(tenant);
      }
    }
  }

  /** A claim during a refill is made up for by the same refill, not the next periodic one. */
  @Test
  void claimDuringRefillTriggersAnotherRefill() throws IOException {
    try (EngineFixture fixture = fixture(POOL)) {
      for (int i = 0; i < 50; i++) {
        await().until(() -> pooled(fixture) == 2);
        CreateResult delivery =
            fixture.engine.creator().create(request(spec().env("KIND", "warm").build()));
        assertThat(delivery.view().warm()).isTrue();
        fixture.engine.sandboxes().destroy(delivery.view().id(), DestroyOptions.FORCE);
      }
    }
  }

  @Test
  void requirementsDetermineTheProviderAndAreRecorded() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture fixture = fixture(POOL, gvisor, bubblewrap)) {
      Map<String, ?> document =
          Map.of(
              "require",
              Map.of(
                  "isolation", "kernel",
                  "capabilities", List.of("pausing"),
                  "limits", List.of("memory")));
      CreateRequest request = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
      CreateResult delivery = fixture.engine.creator().create(SandboxRequest.of(request));
      assertThat(delivery.view().provider()).isEqualTo("gvisor");
      assertThat(delivery.view().isolation()).isEqualTo(Isolation.KERNEL);
      assertThat(delivery.view().warm()).isFalse();
      assertThat(delivery.view().attempts()).isEmpty();
      assertThat(SpecCodec.decode(delivery.view().spec(), request.spec().id()).placement())
          .isEqualTo(request.placement());

      CreateRequest never =
          SpecDocument.fromMap(
              Map.of("require", Map.of("isolation", "vm")), () -> SandboxId.random(RANDOM));
      assertThatThrownBy(() -> fixture.engine.creator().create(SandboxRequest.of(never)))
          .isInstanceOf(Unsupported.class)
          .hasMessageContaining("gvisor: isolation kernel is weaker than vm")
          .hasMessageContaining("bubblewrap: isolation container is weaker than vm")
          .hasMessageContaining("test: ");

      // Requirements that the pooled sandboxes meet do not rule out the pool.
      await().until(() -> pooled(fixture) == 2);
      CreateRequest warm =
          CreateRequest.of(spec().env("KIND", "warm").build(), "test")
              .requiring(Requirements.capabilities(Pausing.class));
      assertThat(fixture.engine.creator().create(SandboxRequest.of(warm)).view().warm()).isTrue();
    }
  }

  private static long pooled(EngineFixture fixture) {
    return fixture
        .engine
        .sandboxes()
        .list(SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 100)
        .entries()
        .size();
  }

  @Test
  void waitForStateReturnsWhenTheStateIsReached() throws Exception {
    try (EngineFixture fixture = fixture("")) {
      SandboxId id = fixture.engine.creator().create(request(spec().build())).view().id();
      Thread.ofVirtual().start(() -> fixture.engine.sandboxes().destroy(id, DestroyOptions.NORMAL));
      SandboxEntry entry =
          fixture
              .engine
              .events()
              .waitForState(id, Set.of(SandboxState.DESTROYED), Duration.ofSeconds(20));
      assertThat(entry.state()).isEqualTo(SandboxState.DESTROYED);
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .events()
                      .waitForState(id, Set.of(SandboxState.RUNNING), Duration.ofMillis(20)))
          .hasMessageContaining("is destroyed and can no longer become running");
    }
  }
}
