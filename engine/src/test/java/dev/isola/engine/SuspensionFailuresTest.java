package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** P6: no sandbox loses its files because its suspension fails or is interrupted. */
class SuspensionFailuresTest {
  private static final SandboxId ID = new SandboxId("worker");
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final Duration TTL = Duration.ofHours(9);

  private final FaultyProvider provider = new FaultyProvider("bubblewrap");
  @TempDir Path folder;

  private EngineFixture fixture() throws IOException {
    return new EngineFixture(folder, "reconcile:\n  interval: 1s\n", provider);
  }

  private static void make(EngineFixture fixture, ExpiryAction idle, ExpiryAction expired) {
    Lifecycle lifecycle =
        Lifecycle.ttl(TTL)
            .withIdleTimeout(IDLE)
            .withWhenIdle(idle)
            .withWhenExpired(expired)
            .withAutoResume(expired != ExpiryAction.DESTROY);
    SandboxSpec spec = SandboxSpec.builder(ID).build();
    fixture
        .engine
        .creator()
        .create(
            SandboxRequest.of(CreateRequest.of(spec, "bubblewrap").with(lifecycle).strict())
                .withFixedId());
    output(fixture, "echo kept > file");
  }

  private static String output(EngineFixture fixture, String script) {
    return fixture.engine.sandboxes().get(ID).run(Command.shell(script)).stdout().text();
  }

  private static SandboxState state(EngineFixture fixture) {
    return fixture.engine.sandboxes().view(ID).state();
  }

  private static RuntimeException busy() {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "the agent does not answer", "").exception();
  }

  private static void awaitWarning(EngineFixture fixture, String words) {
    await().until(() -> fixture.log.warnings.stream().anyMatch(one -> one.contains(words)));
  }

  @ParameterizedTest
  @EnumSource(
      value = ExpiryAction.class,
      names = {"PAUSE", "SNAPSHOT"})
  void unresponsiveIdleSandboxKeepsRunningAndIsSuspendedLater(ExpiryAction idle)
      throws IOException {
    try (EngineFixture fixture = fixture()) {
      make(fixture, idle, ExpiryAction.DESTROY);
      provider.capabilityFailure = busy();
      fixture.clock.pass(IDLE.plusSeconds(1));
      awaitWarning(fixture, "could not be suspended and keeps running: the agent does not answer");
      provider.capabilityFailure = null;
      assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      assertThat(output(fixture, "cat file")).isEqualTo("kept\n");
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) != SandboxState.RUNNING);
      assertThat(state(fixture)).isIn(SandboxState.PAUSED, SandboxState.STOPPED);
      assertThat(output(fixture, "cat file")).isEqualTo("kept\n");
    }
  }

  @Test
  void unresponsiveExpiredSandboxIsRetriedAfterAMinute() throws IOException {
    try (EngineFixture fixture = fixture()) {
      make(fixture, ExpiryAction.DESTROY, ExpiryAction.SNAPSHOT);
      provider.capabilityFailure = busy();
      fixture.clock.pass(TTL);
      awaitWarning(fixture, "could not be suspended and keeps running: the agent does not answer");
      provider.capabilityFailure = null;
      assertThat(fixture.engine.sandboxes().view(ID).expiresAt())
          .contains(fixture.clock.instant().plus(Duration.ofMinutes(1)));
      fixture.clock.pass(Duration.ofMinutes(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED);
      assertThat(output(fixture, "cat file")).isEqualTo("kept\n");
    }
  }

  @Test
  void failedPauseLeavesTheSandboxRunning() throws IOException {
    try (EngineFixture fixture = fixture()) {
      make(fixture, ExpiryAction.PAUSE, ExpiryAction.DESTROY);
      provider.pauseFailure = busy();
      fixture.clock.pass(IDLE.plusSeconds(1));
      awaitWarning(fixture, "could not be paused and keeps running: the agent does not answer");
      await().until(() -> state(fixture) == SandboxState.RUNNING);
      provider.pauseFailure = null;
      assertThat(output(fixture, "cat file")).isEqualTo("kept\n");
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
    }
  }

  /**
   * The inventory is taken while the provider still holds the remains of a suspended sandbox, and
   * returned after a client has resumed the sandbox.
   */
  @Test
  void sandboxResumedDuringInventoryIsNotDiscarded() throws IOException {
    try (EngineFixture fixture = fixture()) {
      make(fixture, ExpiryAction.SNAPSHOT, ExpiryAction.DESTROY);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED && seen(fixture).isEmpty());
      AtomicInteger inventories = new AtomicInteger();
      InventoryItem remains =
          new InventoryItem(ID, SandboxState.ERROR, fixture.clock.instant(), Map.of());
      provider.inventory =
          actual -> {
            if (inventories.incrementAndGet() != 1) {
              return actual;
            }
            assertThat(output(fixture, "cat file; echo more > more")).isEqualTo("kept\n");
            List<InventoryItem> before = new ArrayList<>(actual);
            before.add(remains);
            return before;
          };
      await().until(() -> inventories.get() >= 3);
      assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      assertThat(output(fixture, "cat file more")).isEqualTo("kept\nmore\n");
    }
  }

  private List<InventoryItem> seen(EngineFixture fixture) {
    return fixture.registry.get("bubblewrap").inventory();
  }
}
