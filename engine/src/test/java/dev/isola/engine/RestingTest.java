package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.lifecycle.Delivery;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.selection.Request;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.WhenIdle;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** P6: an idle sandbox rests where its spec says so, and is woken by the next request. */
class RestingTest {
  private static final Duration IDLE = Duration.ofMinutes(10);

  @TempDir Path folder;

  private static Delivery make(EngineHouse house, WhenIdle what) {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("idler")).whenIdle(what).ttl(Duration.ofHours(9)).build();
    return house.engine.create(
        Order.of(Request.of(spec, "memory")).withFixedId().withIdleTimeout(IDLE));
  }

  private static SandboxState state(EngineHouse house) {
    return house.engine.entry(new SandboxId("idler")).state();
  }

  @Test
  void oneThatIsIdleIsPausedAndComesBackWithTheNextRequest() throws IOException {
    try (EngineHouse house = new EngineHouse(folder, "")) {
      Delivery made = make(house, WhenIdle.PAUSE);
      SandboxId id = made.entry().id();
      made.sandbox().run(Command.shell("echo kept > file"));
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      assertThat(house.engine.entry(id).cause().orElse("")).isEqualTo("it was idle for PT10M");
      // It rests for as long as it likes; no later sweep ends it.
      house.clock.pass(IDLE.multipliedBy(5));
      house.restart(() -> {});
      assertThat(state(house)).isEqualTo(SandboxState.PAUSED);
      assertThat(house.engine.sandbox(id).run(Command.shell("cat file")).stdout().text())
          .isEqualTo("kept\n");
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      assertThat(house.engine.entry(id).idleTimeout()).isEqualTo(Optional.of(IDLE));
      assertThat(house.engine.entry(id).labels()).isEmpty();
      // And again: its idle time counts from the request on.
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
    }
  }

  @Test
  void itsTimeIsUpAllTheSame() throws IOException {
    try (EngineHouse house = new EngineHouse(folder, "")) {
      make(house, WhenIdle.PAUSE);
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      house.clock.pass(Duration.ofHours(9));
      await().until(() -> state(house) == SandboxState.DESTROYED);
    }
  }

  @Test
  void oneThatCannotRestEnds() throws IOException {
    try (EngineHouse house = new EngineHouse(folder, "")) {
      make(house, WhenIdle.STOP); // which the memory provider does not do
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.DESTROYED);
    }
  }

  @Test
  void oneThatSomebodyPausedIsNotWokenByARequest() throws IOException {
    try (EngineHouse house = new EngineHouse(folder, "")) {
      SandboxId id = make(house, WhenIdle.PAUSE).entry().id();
      house.engine.pause(id, PauseKind.MEMORY);
      Assertions.assertThatThrownBy(() -> house.engine.sandbox(id).run(Command.shell("echo no")))
          .isInstanceOf(Conflict.class);
    }
  }
}
