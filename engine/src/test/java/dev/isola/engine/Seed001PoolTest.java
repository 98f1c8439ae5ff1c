package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.lifecycle.Delivery;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.selection.Request;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SandboxFilter;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scenarios of seed 001 about the warm pool. */
class Seed001PoolTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String POOL =
      """
      pool:
        - size: 1
          spec:
            env: {KIND: warm}
      """;

  @TempDir Path folder;

  private static Order order(String kind) {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).env("KIND", kind).build();
    return Order.of(Request.auto(spec));
  }

  private static List<SandboxEntry> pooled(EngineHouse house) {
    return house
        .engine
        .list(SandboxFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  @Test
  @DisplayName("Warm pool uses default provider")
  void warmPoolUsesDefaultProvider() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    try (EngineHouse house =
        new EngineHouse(folder, POOL, gvisor, new FakeProvider("bubblewrap"))) {
      await().until(() -> pooled(house).size() == 1);
      assertThat(pooled(house)).allMatch(entry -> entry.provider().equals("gvisor"));
    }
  }

  @Test
  @DisplayName("Warm pool container matches request")
  void warmPoolContainerMatchesRequest() throws IOException {
    try (EngineHouse house = new EngineHouse(folder, POOL, new FakeProvider("gvisor"))) {
      await().until(() -> pooled(house).size() == 1);
      SandboxId ready = pooled(house).getFirst().id();
      Delivery delivery = house.engine.create(order("warm"));
      assertThat(delivery.entry().id()).isEqualTo(ready);
      assertThat(delivery.entry().warm()).isTrue();
      assertThat(delivery.entry().provider()).isEqualTo("gvisor");
    }
  }

  @Test
  @DisplayName("Warm pool miss triggers cold start with correct provider")
  void warmPoolMissTriggersColdStartWithCorrectProvider() throws IOException {
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineHouse house =
        new EngineHouse(folder, POOL, new FakeProvider("gvisor"), bubblewrap)) {
      await().until(() -> pooled(house).size() == 1);
      SandboxSpec named = order("warm").request().spec();
      Delivery other = house.engine.create(Order.of(Request.of(named, "bubblewrap")));
      assertThat(other.entry().warm()).isFalse();
      assertThat(other.entry().provider()).isEqualTo("bubblewrap");
      assertThat(house.log.infos).anyMatch(line -> line.contains("provider mismatch"));

      Delivery cold = house.engine.create(order("cold"));
      assertThat(cold.entry().warm()).isFalse();
      assertThat(cold.entry().provider()).isEqualTo("gvisor");
      assertThat(house.log.infos).anyMatch(line -> line.contains("no pool for this spec"));
    }
  }
}
