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
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.lifecycle.SpecCodec;
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

  /** Where the ledgers of these tests are. */
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

  private EngineFixture house(String yaml, ProviderFactory... more) throws IOException {
    return new EngineFixture(folder, ledger, yaml, more);
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM));
  }

  private CreateRequest brief() {
    return CreateRequest.of(spec().build(), "test").withTtl(Duration.ofMinutes(1));
  }

  private static SandboxRequest order(SandboxSpec spec) {
    return SandboxRequest.of(CreateRequest.of(spec, "test"));
  }

  private static String echo(CreateResult delivery) {
    return delivery.sandbox().run(Command.shell("echo works")).stdout().text();
  }

  private static List<String> types(EngineFixture house, SandboxId id) {
    return house.engine.events().after(0, 1000).stream()
        .filter(event -> event.sandbox().filter(id::equals).isPresent())
        .map(EventView::type)
        .toList();
  }

  @Test
  void whatHappensIsWrittenDown() throws IOException {
    try (EngineFixture house = house("")) {
      CreateResult delivery = house.engine.create(order(spec().build()));
      SandboxId id = delivery.view().id();
      assertThat(echo(delivery)).isEqualTo("works\n");
      assertThat(delivery.view().provider()).isEqualTo("test");
      assertThat(delivery.view().isolation()).isEqualTo(Isolation.PROCESS);
      assertThat(delivery.view().warm()).isFalse();
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.RUNNING);

      house.engine.destroy(id, DestroyOptions.NORMAL);
      house.engine.destroy(id, DestroyOptions.NORMAL);
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(types(house, id)).containsExactly("spawn", "ready", "stateChange", "terminate");
      assertThatThrownBy(() -> house.engine.sandbox(id)).isInstanceOf(Gone.class);
      assertThatThrownBy(() -> house.engine.sandbox(new SandboxId("never")))
          .isInstanceOf(NotFound.class);
    }
  }

  @Test
  void aRepeatedOrderMakesNoSecondSandbox() throws Exception {
    try (EngineFixture house = house("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<CreateResult> client =
          () -> house.engine.create(order(spec().build()).withIdempotencyKey("k1"));
      Set<SandboxId> ids = new java.util.HashSet<>();
      for (Future<CreateResult> made :
          clients.invokeAll(java.util.Collections.nCopies(16, client))) {
        ids.add(made.get().view().id());
      }
      assertThat(ids).hasSize(1);
      assertThat(house.registry.get("test").inventory()).hasSize(1);
      assertThatThrownBy(
              () ->
                  house.engine.create(order(spec().env("A", "1").build()).withIdempotencyKey("k1")))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("another request");
    }
  }

  @Test
  void whoseTimeIsUpEndsAndWhoIsRenewedDoesNot() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId ends = house.engine.create(SandboxRequest.of(brief())).view().id();
      SandboxId renewed = house.engine.create(SandboxRequest.of(brief())).view().id();
      SandboxId idle =
          house
              .engine
              .create(order(spec().build()).withIdleTimeout(Duration.ofSeconds(30)))
              .view()
              .id();
      house.engine.renew(renewed, Duration.ofHours(1));
      house.clock.pass(Duration.ofMinutes(2));
      await()
          .untilAsserted(
              () -> {
                assertThat(house.engine.view(ends).state()).isEqualTo(SandboxState.DESTROYED);
                assertThat(house.engine.view(idle).state()).isEqualTo(SandboxState.DESTROYED);
              });
      assertThat(house.engine.view(ends).cause()).hasValue("it expired");
      assertThat(house.engine.view(idle).cause().orElse("")).startsWith("it was idle");
      assertThat(house.engine.view(renewed).state()).isEqualTo(SandboxState.RUNNING);
      assertThatThrownBy(() -> house.engine.renew(ends, Duration.ofHours(1)))
          .isInstanceOf(Gone.class);
    }
  }

  private static SandboxId idleSoon(EngineFixture house) {
    SandboxRequest sandboxRequest = order(spec().build()).withIdleTimeout(Duration.ofSeconds(30));
    return house.engine.create(sandboxRequest).view().id();
  }

  @Test
  void whatSomebodyIsAtWorkWithIsNotIdle() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId idle = idleSoon(house);
      SandboxId commanded = idleSoon(house);
      SandboxId attached = idleSoon(house);
      SandboxId typed = idleSoon(house);
      SandboxId read = idleSoon(house);
      SandboxId left = idleSoon(house);
      List<SandboxId> used = List.of(commanded, attached, typed, read);
      Command silent = Command.shell("sleep 1000");
      Execution running = house.engine.sandbox(commanded).start(silent);
      Sandbox other = house.engine.sandbox(attached);
      ExecutionId begun = leave(other.start(silent));
      Execution again = other.as(Attaching.class).orElseThrow().attach(begun, 0);
      Execution terminal =
          house
              .engine
              .sandbox(typed)
              .as(Terminals.class)
              .orElseThrow()
              .open(silent, new TerminalSize(80, 24));
      house.engine.sandbox(read).files().writeText("file", "content", UTF_8);
      InputStream content = house.engine.sandbox(read).files().read("file", ReadRange.ALL);
      leave(house.engine.sandbox(left).start(silent));

      house.clock.pass(Duration.ofMinutes(2));
      awaitDestroyed(house, List.of(idle, left));
      assertThat(used)
          .extracting(id -> house.engine.view(id).state())
          .containsOnly(SandboxState.RUNNING);

      running.close();
      again.close();
      ExecutionId shown = leave(terminal);
      try (Execution same =
          house.engine.sandbox(typed).as(Attaching.class).orElseThrow().attach(shown, 0)) {
        assertThat(same).isInstanceOf(Terminal.class);
      }
      content.close();
      // When it was last looked at counts as use.
      await()
          .untilAsserted(
              () -> {
                house.clock.pass(Duration.ofMinutes(2));
                assertThat(used)
                    .extracting(id -> house.engine.view(id).state())
                    .containsOnly(SandboxState.DESTROYED);
              });
    }
  }

  private static ExecutionId leave(Execution execution) {
    execution.close();
    return execution.id();
  }

  private static void awaitDestroyed(EngineFixture house, List<SandboxId> all) {
    await()
        .untilAsserted(
            () ->
                assertThat(all)
                    .extracting(id -> house.engine.view(id).state())
                    .containsOnly(SandboxState.DESTROYED));
  }

  @Test
  void pausedIsWrittenAndResumed() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId id = house.engine.create(order(spec().build())).view().id();
      assertThat(house.engine.pause(id, PauseKind.MEMORY).state()).isEqualTo(SandboxState.PAUSED);
      assertThat(house.engine.resume(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void survivorsAreFoundAgain() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId id = house.engine.create(order(spec().build())).view().id();
      house.restart(() -> {});
      assertThat(house.engine.sandbox(id).run(Command.shell("echo still")).stdout().text())
          .isEqualTo("still\n");
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void whatACrashLeftBehindIsRemoved() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId half = new SandboxId("half");
      SandboxId unknown = new SandboxId("unknown");
      SandboxId lost = house.engine.create(order(spec().build())).view().id();
      house.restart(
          () -> {
            // An intent without an end, a sandbox without an intent, and one that somebody took.
            house
                .ledger
                .sandboxes()
                .insert(
                    SandboxEntry.intent(
                            half, "{}", "hash", "test", Isolation.PROCESS, house.clock.instant())
                        .build());
            try (var provider =
                new dev.isola.testing.provider.TestProviderFactory()
                    .create(
                        dev.isola.spi.provider.ProviderConfig.EMPTY,
                        new dev.isola.spi.provider.ProviderContext(
                            house.instance(), folder.resolve("test"), house.clock))) {
              provider.create(SandboxSpec.builder(unknown).build());
              provider.destroy(lost, DestroyOptions.FORCE);
            }
          });
      assertThat(house.engine.view(half).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(house.engine.view(half).cause().orElse(""))
          .contains("while the sandbox was being created");
      assertThat(house.engine.view(lost).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(house.engine.view(lost).cause().orElse("")).startsWith("lost: ");
      assertThat(house.registry.get("test").inventory()).isEmpty();
    }
  }

  @Test
  void whatWasHalfMadeIsEndedThoughItsTimeIsOver() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId half = new SandboxId("half");
      house.restart(
          () ->
              house
                  .ledger
                  .sandboxes()
                  .insert(
                      SandboxEntry.intent(
                              half, "{}", "hash", "test", Isolation.PROCESS, house.clock.instant())
                          .expiresAt(house.clock.instant().minusSeconds(1))
                          .build()));
      assertThat(house.engine.view(half).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(house.engine.view(half).cause().orElse(""))
          .contains("while the sandbox was being created");
    }
  }

  @Test
  void theAttemptsBeforeAreWrittenDown() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "no room");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture house = house("", gvisor, bubblewrap)) {
      CreateResult delivery =
          house.engine.create(SandboxRequest.of(CreateRequest.auto(spec().build())));
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
  void aFailedCreateLeavesNothing() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "no room");
    try (EngineFixture house = house("", gvisor)) {
      SandboxSpec spec = spec().build();
      assertThatThrownBy(
              () -> house.engine.create(SandboxRequest.of(CreateRequest.of(spec, "gvisor"))))
          .hasMessageContaining("no room");
      assertThat(house.engine.view(spec.id()).state()).isEqualTo(SandboxState.DESTROYED);
      assertThat(house.engine.list(SandboxListFilter.ALL.notDestroyed(), "", 10).entries())
          .isEmpty();
    }
  }

  @Test
  void warmOnesAreHandedOutOnceAndMadeAnew() throws Exception {
    try (EngineFixture house = house(POOL);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      await().until(() -> pooled(house) == 2);
      Callable<CreateResult> client =
          () -> house.engine.create(order(spec().env("KIND", "warm").build()));
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
      await().until(() -> pooled(house) == 2);

      CreateResult cold = house.engine.create(order(spec().env("KIND", "other").build()));
      assertThat(cold.view().warm()).isFalse();
      assertThat(house.engine.pool().stats().hits()).isEqualTo(warm);
      assertThat(house.engine.pool().stats().misses()).containsKey("no pool for this spec");
      assertThat(house.log.infos).anyMatch(line -> line.contains("no pool for this spec"));
    }
  }

  /** Who repeats a request of which nothing came asks for a sandbox, not for the failure. */
  @Test
  void aKeyOfWhichNoSandboxCameIsFree() throws Exception {
    FakeProvider gvisor = new FakeProvider("gvisor").failing(ErrorCode.SPAWN_FAILED, "not today");
    try (EngineFixture house = house("", gvisor)) {
      Callable<CreateResult> client =
          () ->
              house.engine.create(
                  SandboxRequest.of(CreateRequest.of(spec().build(), "gvisor"))
                      .withIdempotencyKey("k"));
      assertThatThrownBy(client::call).hasMessageContaining("not today");
      gvisor.failure = null;
      CreateResult made = client.call();
      assertThat(made.repeated()).isFalse();
      assertThat(client.call().view().id()).isEqualTo(made.view().id());
      house.engine.destroy(made.view().id(), DestroyOptions.NORMAL);
      assertThatThrownBy(client::call).isInstanceOf(Gone.class);
    }
  }

  /** Who gets a warm one owns it as if it had been made for them, and so does their key. */
  @Test
  void aWarmOneBelongsToWhoAskedForIt() throws IOException {
    try (EngineFixture house = house(POOL)) {
      for (String tenant : List.of("red", "blue")) {
        await().until(() -> pooled(house) == 2);
        CreateResult delivery =
            house.engine.create(
                order(spec().env("KIND", "warm").build())
                    .withTenant(tenant)
                    .withIdempotencyKey("one"));
        assertThat(delivery.view().warm()).isTrue();
        assertThat(delivery.repeated()).isFalse();
        assertThat(delivery.view().tenant()).isEqualTo(tenant);
      }
    }
  }

  /** Who claims while the pool is being filled is not forgotten until the next round. */
  @Test
  void aPoolThatIsTakenFromWhileItIsFilledIsFilledAgain() throws IOException {
    try (EngineFixture house = house(POOL)) {
      for (int i = 0; i < 50; i++) {
        await().until(() -> pooled(house) == 2);
        CreateResult delivery = house.engine.create(order(spec().env("KIND", "warm").build()));
        assertThat(delivery.view().warm()).isTrue();
        house.engine.destroy(delivery.view().id(), DestroyOptions.FORCE);
      }
    }
  }

  @Test
  void whatASpecRequiresDecidesWhoMakesItAndIsWrittenDown() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture house = house(POOL, gvisor, bubblewrap)) {
      Map<String, ?> document =
          Map.of(
              "require",
              Map.of(
                  "isolation", "kernel",
                  "capabilities", List.of("pausing"),
                  "limits", List.of("memory")));
      CreateRequest request = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
      CreateResult delivery = house.engine.create(SandboxRequest.of(request));
      assertThat(delivery.view().provider()).isEqualTo("gvisor");
      assertThat(delivery.view().isolation()).isEqualTo(Isolation.KERNEL);
      assertThat(delivery.view().warm()).isFalse();
      assertThat(delivery.view().attempts()).isEmpty();
      assertThat(SpecCodec.decode(delivery.view().spec(), request.spec().id()).placement())
          .isEqualTo(request.placement());

      CreateRequest never =
          SpecDocument.fromMap(
              Map.of("require", Map.of("isolation", "vm")), () -> SandboxId.random(RANDOM));
      assertThatThrownBy(() -> house.engine.create(SandboxRequest.of(never)))
          .isInstanceOf(Unsupported.class)
          .hasMessageContaining("gvisor: isolation kernel is weaker than vm")
          .hasMessageContaining("bubblewrap: isolation container is weaker than vm")
          .hasMessageContaining("test: ");

      // Whoever requires what the warm ones are gets one of them.
      await().until(() -> pooled(house) == 2);
      CreateRequest warm =
          CreateRequest.of(spec().env("KIND", "warm").build(), "test")
              .requiring(Requirements.capabilities(Pausing.class));
      assertThat(house.engine.create(SandboxRequest.of(warm)).view().warm()).isTrue();
    }
  }

  private static long pooled(EngineFixture house) {
    return house
        .engine
        .list(SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 100)
        .entries()
        .size();
  }

  @Test
  void aWaitEndsWhenTheStateComes() throws Exception {
    try (EngineFixture house = house("")) {
      SandboxId id = house.engine.create(order(spec().build())).view().id();
      Thread.ofVirtual().start(() -> house.engine.destroy(id, DestroyOptions.NORMAL));
      SandboxEntry entry =
          house
              .engine
              .events()
              .waitForState(id, Set.of(SandboxState.DESTROYED), Duration.ofSeconds(20));
      assertThat(entry.state()).isEqualTo(SandboxState.DESTROYED);
      assertThatThrownBy(
              () ->
                  house
                      .engine
                      .events()
                      .waitForState(id, Set.of(SandboxState.RUNNING), Duration.ofMillis(20)))
          .hasMessageContaining("not yet one of");
    }
  }
}
