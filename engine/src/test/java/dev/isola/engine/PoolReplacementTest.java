package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
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

/** Pooled sandboxes that no request can get any more are replaced. */
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

  private static SandboxRequest request() {
    SandboxSpec spec = SandboxSpec.builder(SandboxId.random(RANDOM)).image("tool").build();
    return SandboxRequest.of(CreateRequest.auto(spec));
  }

  private static List<SandboxView> pooled(EngineFixture fixture) {
    return fixture
        .engine
        .sandboxes()
        .list(SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING), "", 10)
        .entries();
  }

  private static SandboxView ready(EngineFixture fixture) {
    await().until(() -> pooled(fixture).size() == 1);
    return pooled(fixture).getFirst();
  }

  /** Waits until another sandbox is ready and the previous one is gone. */
  private static SandboxView replaced(EngineFixture fixture, SandboxView before) {
    await()
        .until(
            () -> {
              fixture.engine.pool().refill();
              return pooled(fixture).size() == 1
                  && !pooled(fixture).getFirst().id().equals(before.id());
            });
    assertThat(fixture.engine.sandboxes().view(before.id()).state())
        .isEqualTo(SandboxState.DESTROYED);
    return pooled(fixture).getFirst();
  }

  @Test
  void movedImageTagReplacesPooledSandboxes() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture fixture = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(fixture);
      gvisor.imageDigest = Optional.of("sha256:2");
      SandboxView after = replaced(fixture, before);
      assertThat(fixture.engine.creator().create(request()).view().id()).isEqualTo(after.id());
    }
  }

  @Test
  void sandboxWithAnOutdatedImageIsNotClaimed() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture fixture = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(fixture);
      gvisor.imageDigest = Optional.of("sha256:2");
      SandboxView made = fixture.engine.creator().create(request()).view();
      assertThat(made.id()).isNotEqualTo(before.id());
      assertThat(made.warm()).isFalse();
    }
  }

  @Test
  void sandboxWithTheSameImageIsClaimed() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture fixture = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(fixture);
      SandboxView made = fixture.engine.creator().create(request()).view();
      assertThat(made.id()).isEqualTo(before.id());
      assertThat(made.warm()).isTrue();
    }
  }

  @Test
  void betterProviderReplacesPooledSandboxes() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor").ill("not installed yet");
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture fixture = new EngineFixture(folder, POOL, gvisor, bubblewrap)) {
      SandboxView before = ready(fixture);
      assertThat(before.provider()).isEqualTo("bubblewrap");
      gvisor.health = new Health.Healthy("installed");
      SandboxView after = replaced(fixture, before);
      assertThat(after.provider()).isEqualTo("gvisor");
    }
  }

  @Test
  void pooledSandboxesAreKeptWhileNoProviderIsEligible() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.imageDigest = Optional.of("sha256:1");
    try (EngineFixture fixture = new EngineFixture(folder, POOL, gvisor)) {
      SandboxView before = ready(fixture);
      gvisor.ill("restarts");
      await()
          .until(
              () ->
                  fixture.health.current().stream()
                      .filter(one -> one.name().equals("gvisor"))
                      .allMatch(one -> one.health() instanceof Health.Unhealthy));
      fixture.engine.pool().refill();
      assertThat(pooled(fixture)).extracting(SandboxView::id).containsExactly(before.id());
    }
  }
}
