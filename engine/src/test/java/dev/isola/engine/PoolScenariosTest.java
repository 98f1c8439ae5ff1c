package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.LedgerConfig;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SqliteTestDatabase;
import dev.isola.store.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scenarios of the warm pool. */
class PoolScenariosTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String OBSOLETE = "hash of an unconfigured spec";
  private static final String POOL =
      """
      pool:
        - size: 1
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

  private static SandboxRequest request(String kind) {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).env("KIND", kind).build();
    return SandboxRequest.of(CreateRequest.auto(spec));
  }

  private static List<SandboxEntry> pooled(EngineFixture fixture) {
    return fixture
        .ledger
        .sandboxes()
        .list(EntryFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  @Test
  @DisplayName("Warm pool uses default provider")
  void warmPoolUsesDefaultProvider() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineFixture fixture = fixture(POOL, gvisor, new FakeProvider("bubblewrap"))) {
      await().until(() -> pooled(fixture).size() == 1);
      assertThat(pooled(fixture)).allMatch(entry -> entry.provider().equals("gvisor"));
    }
  }

  @Test
  void planSaysWhetherAWarmSandboxIsReadyAndClaimsNone() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineFixture fixture = fixture(POOL, gvisor, new FakeProvider("bubblewrap"))) {
      await().until(() -> pooled(fixture).size() == 1);
      assertThat(fixture.engine.creator().plan(request("warm")).warm()).isTrue();
      assertThat(fixture.engine.creator().plan(request("warm")).warm()).as("not claimed").isTrue();
      assertThat(fixture.engine.creator().plan(request("warm")).selection().names().getFirst())
          .isEqualTo("gvisor");
      assertThat(fixture.engine.creator().plan(request("cold")).warm()).isFalse();
      assertThat(fixture.engine.pool().stats().misses()).isEmpty();
      assertThat(pooled(fixture)).hasSize(1);
    }
  }

  @Test
  void sandboxClaimedDuringRefillIsReplaced() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    CountDownLatch filling = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (EngineFixture fixture = fixture(POOL.replace("size: 1", "size: 2"), gvisor)) {
      await().until(() -> pooled(fixture).size() == 2);
      gvisor.beforeCreate =
          () -> {
            filling.countDown();
            await().until(() -> goOn.getCount() == 0);
          };
      assertThat(fixture.engine.creator().create(request("warm")).view().warm()).isTrue();
      await().until(() -> filling.getCount() == 0);
      // The refill has counted one sandbox; now that one is claimed, too.
      assertThat(fixture.engine.creator().create(request("warm")).view().warm()).isTrue();
      await().until(() -> pooled(fixture).isEmpty());
      goOn.countDown();
      await().until(() -> pooled(fixture).size() == 2);
    }
  }

  @Test
  void claimedSandboxIsNotRemovedAsObsolete() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineFixture fixture = fixture(POOL, gvisor)) {
      await().until(() -> pooled(fixture).size() == 1);
      List<SandboxEntry> unwanted = List.of(unwanted(fixture, "one"), unwanted(fixture, "two"));
      // While the pool removes the first of them, a request claims the other.
      gvisor.beforeDestroy =
          ended ->
              unwanted.stream()
                  .filter(entry -> !entry.id().equals(ended))
                  .forEach(entry -> fixture.ledger.sandboxes().update(given(entry)));
      assertThat(fixture.engine.creator().create(request("warm")).view().warm()).isTrue();
      // The pool removes obsolete sandboxes before it creates new ones.
      await()
          .until(() -> pooled(fixture).stream().anyMatch(one -> !one.specHash().equals(OBSOLETE)));
      assertThat(unwanted)
          .extracting(entry -> fixture.engine.sandboxes().view(entry.id()).state())
          .containsExactlyInAnyOrder(SandboxState.DESTROYED, SandboxState.RUNNING);
    }
  }

  /** Adds a pooled sandbox whose spec is not configured. */
  private static SandboxEntry unwanted(EngineFixture fixture, String id) {
    SandboxEntries sandboxes = fixture.ledger.sandboxes();
    SandboxEntry intent =
        sandboxes.insert(
            SandboxEntry.intent(
                    new SandboxId(id),
                    "{}",
                    OBSOLETE,
                    "gvisor",
                    Isolation.KERNEL,
                    fixture.clock.instant())
                .pooled(true)
                .build());
    sandboxes.update(intent.toBuilder().state(SandboxState.RUNNING).build());
    return sandboxes.find(intent.id()).orElseThrow();
  }

  private static SandboxEntry given(SandboxEntry entry) {
    return entry.toBuilder().pooled(false).build();
  }

  @Test
  @DisplayName("Warm pool container matches request")
  void warmPoolContainerMatchesRequest() throws IOException {
    try (EngineFixture fixture = fixture(POOL, new FakeProvider("gvisor"))) {
      await().until(() -> pooled(fixture).size() == 1);
      SandboxId ready = pooled(fixture).getFirst().id();
      CreateResult delivery = fixture.engine.creator().create(request("warm"));
      assertThat(delivery.view().id()).isEqualTo(ready);
      assertThat(delivery.view().warm()).isTrue();
      assertThat(delivery.view().provider()).isEqualTo("gvisor");
    }
  }

  @Test
  @DisplayName("Warm pool miss triggers cold start with correct provider")
  void warmPoolMissTriggersColdStartWithCorrectProvider() throws IOException {
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture fixture = fixture(POOL, new FakeProvider("gvisor"), bubblewrap)) {
      await().until(() -> pooled(fixture).size() == 1);
      SandboxSpec named = request("warm").request().spec();
      CreateResult other =
          fixture.engine.creator().create(SandboxRequest.of(CreateRequest.of(named, "bubblewrap")));
      assertThat(other.view().warm()).isFalse();
      assertThat(other.view().provider()).isEqualTo("bubblewrap");
      assertThat(fixture.log.infos).anyMatch(line -> line.contains("provider mismatch"));

      CreateResult cold = fixture.engine.creator().create(request("cold"));
      assertThat(cold.view().warm()).isFalse();
      assertThat(cold.view().provider()).isEqualTo("gvisor");
      assertThat(fixture.log.infos).anyMatch(line -> line.contains("no pool for this spec"));
    }
  }
}
