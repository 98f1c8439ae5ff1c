package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.lifecycle.SandboxRequest;
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

/** P6: no sandbox loses its files because its suspension fails or is disturbed. */
class SuspensionFailuresTest {
  private static final SandboxId ID = new SandboxId("worker");
  private static final Duration IDLE = Duration.ofMinutes(10);
  private static final Duration TTL = Duration.ofHours(9);

  private final FaultyProvider provider = new FaultyProvider("bubblewrap");
  @TempDir Path folder;

  private EngineFixture house() throws IOException {
    return new EngineFixture(folder, "reconcile:\n  interval: 1s\n", provider);
  }

  private static void make(EngineFixture house, ExpiryAction idle, ExpiryAction expired) {
    Lifecycle lifecycle =
        Lifecycle.ttl(TTL)
            .withIdleTimeout(IDLE)
            .withWhenIdle(idle)
            .withWhenExpired(expired)
            .withAutoResume(expired != ExpiryAction.DESTROY);
    SandboxSpec spec = SandboxSpec.builder(ID).build();
    house.engine.create(
        SandboxRequest.of(CreateRequest.of(spec, "bubblewrap").with(lifecycle).strict())
            .withFixedId());
    output(house, "echo kept > file");
  }

  private static String output(EngineFixture house, String script) {
    return house.engine.sandbox(ID).run(Command.shell(script)).stdout().text();
  }

  private static SandboxState state(EngineFixture house) {
    return house.engine.view(ID).state();
  }

  private static RuntimeException busy() {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "the agent does not answer", "").exception();
  }

  private static void awaitWarning(EngineFixture house, String words) {
    await().until(() -> house.log.warnings.stream().anyMatch(one -> one.contains(words)));
  }

  @ParameterizedTest
  @EnumSource(
      value = ExpiryAction.class,
      names = {"PAUSE", "SNAPSHOT"})
  void anIdleSandboxThatCannotBeAskedGoesOnAndIsSuspendedLater(ExpiryAction idle)
      throws IOException {
    try (EngineFixture house = house()) {
      make(house, idle, ExpiryAction.DESTROY);
      provider.capabilityFailure = busy();
      house.clock.pass(IDLE.plusSeconds(1));
      awaitWarning(house, "could not be suspended and keeps running: the agent does not answer");
      provider.capabilityFailure = null;
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      assertThat(output(house, "cat file")).isEqualTo("kept\n");
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) != SandboxState.RUNNING);
      assertThat(state(house)).isIn(SandboxState.PAUSED, SandboxState.STOPPED);
      assertThat(output(house, "cat file")).isEqualTo("kept\n");
    }
  }

  @Test
  void anExpiredSandboxThatCannotBeAskedIsTriedAgainAfterAMinute() throws IOException {
    try (EngineFixture house = house()) {
      make(house, ExpiryAction.DESTROY, ExpiryAction.SNAPSHOT);
      provider.capabilityFailure = busy();
      house.clock.pass(TTL);
      awaitWarning(house, "could not be suspended and keeps running: the agent does not answer");
      provider.capabilityFailure = null;
      assertThat(house.engine.view(ID).expiresAt())
          .contains(house.clock.instant().plus(Duration.ofMinutes(1)));
      house.clock.pass(Duration.ofMinutes(1));
      await().until(() -> state(house) == SandboxState.STOPPED);
      assertThat(output(house, "cat file")).isEqualTo("kept\n");
    }
  }

  @Test
  void aPauseThatFailsLeavesTheSandboxRunning() throws IOException {
    try (EngineFixture house = house()) {
      make(house, ExpiryAction.PAUSE, ExpiryAction.DESTROY);
      provider.pauseFailure = busy();
      house.clock.pass(IDLE.plusSeconds(1));
      awaitWarning(house, "could not be paused and keeps running: the agent does not answer");
      await().until(() -> state(house) == SandboxState.RUNNING);
      provider.pauseFailure = null;
      assertThat(output(house, "cat file")).isEqualTo("kept\n");
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
    }
  }

  /**
   * The provider is asked for its inventory while it still has the remains of a suspended sandbox,
   * and answers after a client resumed the sandbox.
   */
  @Test
  void aSandboxThatIsResumedWhileTheInventoryIsReadIsNotTakenForRemains() throws IOException {
    try (EngineFixture house = house()) {
      make(house, ExpiryAction.SNAPSHOT, ExpiryAction.DESTROY);
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.STOPPED && seen(house).isEmpty());
      AtomicInteger inventories = new AtomicInteger();
      InventoryItem remains =
          new InventoryItem(ID, SandboxState.ERROR, house.clock.instant(), Map.of());
      provider.inventory =
          actual -> {
            if (inventories.incrementAndGet() != 1) {
              return actual;
            }
            assertThat(output(house, "cat file; echo more > more")).isEqualTo("kept\n");
            List<InventoryItem> before = new ArrayList<>(actual);
            before.add(remains);
            return before;
          };
      await().until(() -> inventories.get() >= 3);
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      assertThat(output(house, "cat file more")).isEqualTo("kept\nmore\n");
    }
  }

  private List<InventoryItem> seen(EngineFixture house) {
    return house.registry.get("bubblewrap").inventory();
  }
}
