package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pooled sandboxes that no request would get any more are replaced. */
class PoolReplacementTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String POOL =
      """
      health:
        interval: 1s
        timeout: 1s
      pool:
        - size: 1
          spec:
            image: tool
      """;

  @TempDir Path folder;

  private static SandboxRequest order() {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).image("tool").build();
    return SandboxRequest.of(CreateRequest.auto(spec));
  }

  private static List<SandboxView> pooled(EngineFixture house) {
    return house
        .engine
        .list(SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  private static SandboxView ready(EngineFixture house) {
    await().until(() -> pooled(house).size() == 1);
    return pooled(house).getFirst();
  }

  /** Waits until another sandbox is ready and the one before is gone. */
  private static SandboxView replaced(EngineFixture house, SandboxView before) {
    await()
        .until(
            () -> {
              house.engine.pool().refill();
              return pooled(house).size() == 1
                  && !pooled(house).getFirst().id().equals(before.id());
            });
    assertThat(house.engine.view(before.id()).state()).isEqualTo(SandboxState.DESTROYED);
    return pooled(house).getFirst();
  }

  @Test
  void aMovedImageTagReplacesPooledSandboxes() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture house = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(house);
      gvisor.imageDigest = Optional.of("sha256:2");
      SandboxView after = replaced(house, before);
      assertThat(house.engine.create(order()).view().id()).isEqualTo(after.id());
    }
  }

  @Test
  void aSandboxOfTheImageBeforeIsNotHandedOut() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture house = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(house);
      gvisor.imageDigest = Optional.of("sha256:2");
      SandboxView made = house.engine.create(order()).view();
      assertThat(made.id()).isNotEqualTo(before.id());
      assertThat(made.warm()).isFalse();
    }
  }

  @Test
  void aSandboxOfTheSameImageIsHandedOut() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture house = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(house);
      SandboxView made = house.engine.create(order()).view();
      assertThat(made.id()).isEqualTo(before.id());
      assertThat(made.warm()).isTrue();
    }
  }

  @Test
  void aBetterProviderReplacesPooledSandboxes() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").ill("not installed yet");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture house = new EngineFixture(folder, POOL, gvisor, bubblewrap)) {
      SandboxView before = ready(house);
      assertThat(before.provider()).isEqualTo("bubblewrap");
      gvisor.health = new Health.Healthy("installed");
      SandboxView after = replaced(house, before);
      assertThat(after.provider()).isEqualTo("gvisor");
    }
  }

  @Test
  void sandboxesStayWhileNoProviderIsThere() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture house = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(house);
      gvisor.ill("restarts");
      await()
          .until(
              () ->
                  house.health.current().stream()
                      .filter(one -> one.name().equals("gvisor"))
                      .allMatch(one -> one.health() instanceof Health.Unhealthy));
      house.engine.pool().refill();
      assertThat(pooled(house)).extracting(SandboxView::id).containsExactly(before.id());
    }
  }
}
