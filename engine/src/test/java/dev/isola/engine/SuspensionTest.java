package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.engine.snapshot.ForkResult;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** P6: an idle sandbox rests where its spec says so, and is woken by the next request. */
class SuspensionTest {
  private static final Duration IDLE = Duration.ofMinutes(10);

  @TempDir Path folder;

  private static CreateResult make(EngineFixture house, ExpiryAction what) {
    return make(house, Lifecycle.ttl(Duration.ofHours(9)).withWhenIdle(what).withIdleTimeout(IDLE));
  }

  private static SandboxState state(EngineFixture house) {
    return house.engine.view(new SandboxId("idler")).state();
  }

  @Test
  void oneThatIsIdleIsPausedAndComesBackWithTheNextRequest() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      CreateResult made = make(house, ExpiryAction.PAUSE);
      SandboxId id = made.view().id();
      made.sandbox().run(Command.shell("echo kept > file"));
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      assertThat(house.engine.view(id).cause().orElse("")).isEqualTo("it was idle for PT10M");
      // It rests for as long as it likes; no later sweep ends it.
      house.clock.pass(IDLE.multipliedBy(5));
      house.restart(() -> {});
      assertThat(state(house)).isEqualTo(SandboxState.PAUSED);
      assertThat(house.engine.sandbox(id).run(Command.shell("cat file")).stdout().text())
          .isEqualTo("kept\n");
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      assertThat(house.engine.view(id).idleTimeout()).isEqualTo(Optional.of(IDLE));
      assertThat(house.engine.view(id).labels()).isEmpty();
      // And again: its idle time counts from the request on.
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
    }
  }

  @Test
  void itsTimeIsUpAllTheSame() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.PAUSE);
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      house.clock.pass(Duration.ofHours(9));
      await().until(() -> state(house) == SandboxState.DESTROYED);
    }
  }

  @Test
  void oneThatCannotRestEnds() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.STOP); // which the test provider does not do
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.DESTROYED);
    }
  }

  @Test
  void oneThatSomebodyPausedIsNotWokenByARequest() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      SandboxId id = make(house, ExpiryAction.PAUSE).view().id();
      house.engine.pause(id, PauseKind.MEMORY);
      Assertions.assertThatThrownBy(() -> house.engine.sandbox(id).run(Command.shell("echo no")))
          .isInstanceOf(Conflict.class);
    }
  }

  @Test
  void aForkThatIsRefusedWakesNobody() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.PAUSE);
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      Assertions.assertThatThrownBy(() -> house.engine.fork(IDLER, 1, ForkKind.MEMORY))
          .isInstanceOf(Unsupported.class);
      assertThat(state(house)).isEqualTo(SandboxState.PAUSED);
      assertThat(house.engine.fork(IDLER, 1))
          .singleElement()
          .isInstanceOf(ForkResult.Created.class);
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      Assertions.assertThatThrownBy(
              () -> house.engine.fork(new SandboxId("nobody"), 1, ForkKind.MEMORY))
          .isInstanceOf(NotFound.class);
    }
  }

  private static final SandboxId IDLER = new SandboxId("idler");

  private static CreateResult make(EngineFixture house, Lifecycle lifecycle) {
    SandboxSpec spec = SandboxSpec.builder(IDLER).build();
    return house.engine.create(
        SandboxRequest.of(CreateRequest.of(spec, "test").with(lifecycle)).withFixedId());
  }

  private static Lifecycle expiring(ExpiryAction what) {
    return Lifecycle.ttl(Duration.ofHours(1)).withWhenExpired(what);
  }

  private static String said(EngineFixture house, String shell) {
    return house.engine.sandbox(IDLER).run(Command.shell(shell)).stdout().text();
  }

  /** Whether its provider has it. */
  private static boolean there(EngineFixture house) {
    return house.registry.get("test").inventory().stream().anyMatch(one -> one.id().equals(IDLER));
  }

  @Test
  void oneThatRestsInASnapshotIsNotAtItsProviderAndComesBack() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.SNAPSHOT);
      said(house, "mkdir a; echo kept > a/file; echo gone > /tmp/other");
      assertThat(there(house)).isTrue();
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.STOPPED && !there(house));
      assertThat(house.engine.snapshots().list()).hasSize(1);
      assertThat(house.engine.reserved().reserved().memoryMb()).isZero();
      house.clock.pass(IDLE.multipliedBy(5));
      house.restart(() -> {});
      assertThat(state(house)).isEqualTo(SandboxState.STOPPED);
      assertThat(said(house, "cat a/file")).isEqualTo("kept\n");
      assertThat(there(house)).isTrue();
      assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      assertThat(house.engine.view(IDLER).labels()).isEmpty();
      assertThat(house.engine.view(IDLER).idleTimeout()).isEqualTo(Optional.of(IDLE));
      assertThat(house.engine.snapshots().list()).isEmpty();
      said(house, "echo more > more");
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.STOPPED && !there(house));
      assertThat(said(house, "cat more a/file")).isEqualTo("more\nkept\n");
    }
  }

  @Test
  void severalRequestsAtOnceBringItBackOnce() throws Exception {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.SNAPSHOT);
      said(house, "echo kept > file");
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.STOPPED);
      // Some come while it is still leaving.
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<String>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          answers.add(threads.submit(() -> said(house, "cat file; echo x >> file")));
        }
        for (Future<String> answer : answers) {
          assertThat(answer.get()).startsWith("kept\n");
        }
      }
      assertThat(said(house, "wc -l < file").strip()).isEqualTo("9");
    }
  }

  @Test
  void oneThatIsDestroyedWhileItRestsLeavesNoSnapshot() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, ExpiryAction.SNAPSHOT);
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.STOPPED && !there(house));
      assertThat(house.engine.snapshots().list()).hasSize(1);
      house.engine.destroy(IDLER, DestroyOptions.FORCE);
      assertThat(state(house)).isEqualTo(SandboxState.DESTROYED);
      assertThat(house.engine.snapshots().list()).isEmpty();
    }
  }

  @Test
  void oneWhoseTimeIsUpIsPausedAndLivesAnewWhenItIsResumed() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(house, expiring(ExpiryAction.PAUSE));
      said(house, "echo kept > file");
      house.clock.pass(Duration.ofHours(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      assertThat(house.engine.view(IDLER).cause().orElse("")).isEqualTo("it expired");
      house.clock.pass(Duration.ofDays(30));
      house.restart(() -> {});
      Assertions.assertThatThrownBy(() -> said(house, "cat file")).isInstanceOf(Conflict.class);
      assertThat(house.engine.resume(IDLER).expiresAt())
          .isEqualTo(Optional.of(house.clock.instant().plus(Duration.ofHours(1))));
      assertThat(said(house, "cat file")).isEqualTo("kept\n");
      house.clock.pass(Duration.ofHours(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
    }
  }

  @Test
  void withAutoResumeARequestWakesOneWhoseTimeWasUp() throws IOException {
    for (ExpiryAction what : List.of(ExpiryAction.PAUSE, ExpiryAction.SNAPSHOT)) {
      Path own = Files.createDirectory(folder.resolve(what.name()));
      try (EngineFixture house = new EngineFixture(own, "")) {
        make(house, expiring(what).withAutoResume(true));
        said(house, "echo kept > file");
        house.clock.pass(Duration.ofHours(1));
        await().until(() -> state(house) != SandboxState.RUNNING);
        assertThat(said(house, "cat file")).isEqualTo("kept\n");
        assertThat(house.engine.view(IDLER).expiresAt())
            .isEqualTo(Optional.of(house.clock.instant().plus(Duration.ofHours(1))));
        assertThat(state(house)).isEqualTo(SandboxState.RUNNING);
      }
    }
  }

  @Test
  void oneThatRestsSinceItWasIdleIsKeptWhenItsTimeIsUp() throws IOException {
    try (EngineFixture house = new EngineFixture(folder, "")) {
      make(
          house,
          expiring(ExpiryAction.PAUSE)
              .withWhenIdle(ExpiryAction.PAUSE)
              .withIdleTimeout(IDLE)
              .withAutoResume(true));
      house.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(house) == SandboxState.PAUSED);
      house.clock.pass(Duration.ofHours(2));
      await().until(() -> house.engine.view(IDLER).expiresAt().isEmpty());
      assertThat(said(house, "echo yes")).isEqualTo("yes\n");
      assertThat(house.engine.view(IDLER).idleTimeout()).isEqualTo(Optional.of(IDLE));
    }
  }
}
