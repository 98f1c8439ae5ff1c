package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.lifecycle.SandboxRequest;
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

/** The scenarios of seed 001 about the warm pool. */
class Seed001PoolTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String UNWANTED = "the hash of a spec that nobody asks for";
  private static final String POOL =
      """
      pool:
        - size: 1
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

  private static SandboxRequest order(String kind) {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).env("KIND", kind).build();
    return SandboxRequest.of(CreateRequest.auto(spec));
  }

  private static List<SandboxEntry> pooled(EngineFixture house) {
    return house
        .ledger
        .sandboxes()
        .list(EntryFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  @Test
  @DisplayName("Warm pool uses default provider")
  void warmPoolUsesDefaultProvider() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineFixture house = house(POOL, gvisor, new FakeProvider("bubblewrap"))) {
      await().until(() -> pooled(house).size() == 1);
      assertThat(pooled(house)).allMatch(entry -> entry.provider().equals("gvisor"));
    }
  }

  @Test
  void whatIsHandedOutWhileThePoolIsFilledIsMadeAnew() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    CountDownLatch filling = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (EngineFixture house = house(POOL.replace("size: 1", "size: 2"), gvisor)) {
      await().until(() -> pooled(house).size() == 2);
      gvisor.beforeCreate =
          () -> {
            filling.countDown();
            await().until(() -> goOn.getCount() == 0);
          };
      assertThat(house.engine.create(order("warm")).view().warm()).isTrue();
      await().until(() -> filling.getCount() == 0);
      // It has counted one; now that one goes, too.
      assertThat(house.engine.create(order("warm")).view().warm()).isTrue();
      await().until(() -> pooled(house).isEmpty());
      goOn.countDown();
      await().until(() -> pooled(house).size() == 2);
    }
  }

  @Test
  void whatSomebodyWasGivenMeanwhileIsNotThrownAway() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineFixture house = house(POOL, gvisor)) {
      await().until(() -> pooled(house).size() == 1);
      List<SandboxEntry> unwanted = List.of(unwanted(house, "one"), unwanted(house, "two"));
      // While the pool throws the first of them away, somebody is given the other.
      gvisor.beforeDestroy =
          ended ->
              unwanted.stream()
                  .filter(entry -> !entry.id().equals(ended))
                  .forEach(entry -> house.ledger.sandboxes().update(given(entry)));
      assertThat(house.engine.create(order("warm")).view().warm()).isTrue();
      // The pool is filled after it was drained.
      await().until(() -> pooled(house).stream().anyMatch(one -> !one.specHash().equals(UNWANTED)));
      assertThat(unwanted)
          .extracting(entry -> house.engine.view(entry.id()).state())
          .containsExactlyInAnyOrder(SandboxState.DESTROYED, SandboxState.RUNNING);
    }
  }

  /** One in the pool whose spec nobody wants any more. */
  private static SandboxEntry unwanted(EngineFixture house, String id) {
    SandboxEntries sandboxes = house.ledger.sandboxes();
    SandboxEntry intent =
        sandboxes.insert(
            SandboxEntry.intent(
                    new SandboxId(id),
                    "{}",
                    UNWANTED,
                    "gvisor",
                    Isolation.KERNEL,
                    house.clock.instant())
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
    try (EngineFixture house = house(POOL, new FakeProvider("gvisor"))) {
      await().until(() -> pooled(house).size() == 1);
      SandboxId ready = pooled(house).getFirst().id();
      CreateResult delivery = house.engine.create(order("warm"));
      assertThat(delivery.view().id()).isEqualTo(ready);
      assertThat(delivery.view().warm()).isTrue();
      assertThat(delivery.view().provider()).isEqualTo("gvisor");
    }
  }

  @Test
  @DisplayName("Warm pool miss triggers cold start with correct provider")
  void warmPoolMissTriggersColdStartWithCorrectProvider() throws IOException {
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture house = house(POOL, new FakeProvider("gvisor"), bubblewrap)) {
      await().until(() -> pooled(house).size() == 1);
      SandboxSpec named = order("warm").request().spec();
      CreateResult other =
          house.engine.create(SandboxRequest.of(CreateRequest.of(named, "bubblewrap")));
      assertThat(other.view().warm()).isFalse();
      assertThat(other.view().provider()).isEqualTo("bubblewrap");
      assertThat(house.log.infos).anyMatch(line -> line.contains("provider mismatch"));

      CreateResult cold = house.engine.create(order("cold"));
      assertThat(cold.view().warm()).isFalse();
      assertThat(cold.view().provider()).isEqualTo("gvisor");
      assertThat(house.log.infos).anyMatch(line -> line.contains("no pool for this spec"));
    }
  }
}
