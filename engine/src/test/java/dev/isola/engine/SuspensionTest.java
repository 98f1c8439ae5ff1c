package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxRequest;
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

/** P6: an idle sandbox is suspended if its spec says so, and resumed by the next request. */
class SuspensionTest {
  private static final Duration IDLE = Duration.ofMinutes(10);

  @TempDir Path folder;

  private static CreateResult make(EngineFixture fixture, ExpiryAction what) {
    return make(
        fixture, Lifecycle.ttl(Duration.ofHours(9)).withWhenIdle(what).withIdleTimeout(IDLE));
  }

  private static SandboxState state(EngineFixture fixture) {
    return fixture.engine.sandboxes().view(new SandboxId("idler")).state();
  }

  private static boolean isPausedAtItsProvider(EngineFixture fixture) {
    return fixture.registry.providers().values().stream()
        .flatMap(provider -> provider.inventory().stream())
        .allMatch(item -> item.state() == SandboxState.PAUSED);
  }

  @Test
  void idleSandboxIsPausedAndResumedByTheNextRequest() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      CreateResult made = make(fixture, ExpiryAction.PAUSE);
      SandboxId id = made.view().id();
      made.sandbox().run(Command.shell("echo kept > file"));
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
      // It is recorded as paused before it is; a server that stops meanwhile keeps it running.
      await().until(() -> isPausedAtItsProvider(fixture));
      assertThat(fixture.engine.sandboxes().view(id).cause().orElse(""))
          .isEqualTo("it was idle for PT10M");
      // It is suspended with no expiry; no later sweep destroys it.
      fixture.clock.pass(IDLE.multipliedBy(5));
      fixture.restart(() -> {});
      assertThat(state(fixture)).isEqualTo(SandboxState.PAUSED);
      assertThat(fixture.engine.sandboxes().get(id).run(Command.shell("cat file")).stdout().text())
          .isEqualTo("kept\n");
      assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      assertThat(fixture.engine.sandboxes().view(id).idleTimeout()).isEqualTo(Optional.of(IDLE));
      assertThat(fixture.engine.sandboxes().view(id).labels()).isEmpty();
      // The idle timeout starts again with the request.
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
    }
  }

  @Test
  void suspendedIdleSandboxStillExpires() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.PAUSE);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
      fixture.clock.pass(Duration.ofHours(9));
      await().until(() -> state(fixture) == SandboxState.DESTROYED);
    }
  }

  @Test
  void sandboxWithoutSuspensionSupportIsDestroyed() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.STOP); // the test provider does not support it
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.DESTROYED);
    }
  }

  @Test
  void explicitlyPausedSandboxIsNotResumedByARequest() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SandboxId id = make(fixture, ExpiryAction.PAUSE).view().id();
      fixture.engine.sandboxes().pause(id, PauseKind.MEMORY);
      Assertions.assertThatThrownBy(
              () -> fixture.engine.sandboxes().get(id).run(Command.shell("echo no")))
          .isInstanceOf(Conflict.class);
    }
  }

  @Test
  void rejectedForkDoesNotResumeTheSandbox() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.PAUSE);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
      Assertions.assertThatThrownBy(
              () -> fixture.engine.forks().fork(IDLER, ForkRequest.of(1, ForkKind.MEMORY)))
          .isInstanceOf(Unsupported.class);
      assertThat(state(fixture)).isEqualTo(SandboxState.PAUSED);
      assertThat(fixture.engine.forks().fork(IDLER, ForkRequest.of(1)))
          .singleElement()
          .isInstanceOf(ForkResult.Created.class);
      assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      Assertions.assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .forks()
                      .fork(new SandboxId("unknown"), ForkRequest.of(1, ForkKind.MEMORY)))
          .isInstanceOf(NotFound.class);
    }
  }

  private static final SandboxId IDLER = new SandboxId("idler");

  private static CreateResult make(EngineFixture fixture, Lifecycle lifecycle) {
    SandboxSpec spec = SandboxSpec.builder(IDLER).build();
    return fixture
        .engine
        .creator()
        .create(SandboxRequest.of(CreateRequest.of(spec, "test").with(lifecycle)).withFixedId());
  }

  private static Lifecycle expiring(ExpiryAction what) {
    return Lifecycle.ttl(Duration.ofHours(1)).withWhenExpired(what);
  }

  private static String said(EngineFixture fixture, String shell) {
    return fixture.engine.sandboxes().get(IDLER).run(Command.shell(shell)).stdout().text();
  }

  /** Returns whether the provider has the sandbox. */
  private static boolean there(EngineFixture fixture) {
    return fixture.registry.get("test").inventory().stream()
        .anyMatch(one -> one.id().equals(IDLER));
  }

  @Test
  void snapshotSuspensionRemovesTheSandboxFromItsProviderAndRestoresIt() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.SNAPSHOT);
      said(fixture, "mkdir a; echo kept > a/file; echo gone > /tmp/other");
      assertThat(there(fixture)).isTrue();
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED && !there(fixture));
      assertThat(fixture.engine.snapshots().list()).hasSize(1);
      await().until(() -> fixture.engine.reserved().reserved().memoryMb() == 0);
      fixture.clock.pass(IDLE.multipliedBy(5));
      fixture.restart(() -> {});
      assertThat(state(fixture)).isEqualTo(SandboxState.STOPPED);
      assertThat(said(fixture, "cat a/file")).isEqualTo("kept\n");
      assertThat(there(fixture)).isTrue();
      assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      assertThat(fixture.engine.sandboxes().view(IDLER).labels()).isEmpty();
      assertThat(fixture.engine.sandboxes().view(IDLER).idleTimeout()).isEqualTo(Optional.of(IDLE));
      assertThat(fixture.engine.snapshots().list()).isEmpty();
      said(fixture, "echo more > more");
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED && !there(fixture));
      assertThat(said(fixture, "cat more a/file")).isEqualTo("more\nkept\n");
    }
  }

  @Test
  void concurrentRequestsResumeTheSandboxOnce() throws Exception {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.SNAPSHOT);
      said(fixture, "echo kept > file");
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED);
      // Some requests arrive while the snapshot is still being taken.
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<String>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          answers.add(threads.submit(() -> said(fixture, "cat file; echo x >> file")));
        }
        for (Future<String> answer : answers) {
          assertThat(answer.get()).startsWith("kept\n");
        }
      }
      assertThat(said(fixture, "wc -l < file").strip()).isEqualTo("9");
    }
  }

  @Test
  void destroyingASuspendedSandboxDeletesItsSnapshot() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, ExpiryAction.SNAPSHOT);
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.STOPPED && !there(fixture));
      assertThat(fixture.engine.snapshots().list()).hasSize(1);
      fixture.engine.sandboxes().destroy(IDLER, DestroyOptions.FORCE);
      assertThat(state(fixture)).isEqualTo(SandboxState.DESTROYED);
      assertThat(fixture.engine.snapshots().list()).isEmpty();
    }
  }

  @Test
  void expiredSandboxIsPausedAndGetsANewTtlWhenResumed() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(fixture, expiring(ExpiryAction.PAUSE));
      said(fixture, "echo kept > file");
      fixture.clock.pass(Duration.ofHours(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
      assertThat(fixture.engine.sandboxes().view(IDLER).cause().orElse("")).isEqualTo("it expired");
      fixture.clock.pass(Duration.ofDays(30));
      fixture.restart(() -> {});
      Assertions.assertThatThrownBy(() -> said(fixture, "cat file")).isInstanceOf(Conflict.class);
      assertThat(fixture.engine.sandboxes().resume(IDLER).expiresAt())
          .isEqualTo(Optional.of(fixture.clock.instant().plus(Duration.ofHours(1))));
      assertThat(said(fixture, "cat file")).isEqualTo("kept\n");
      fixture.clock.pass(Duration.ofHours(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
    }
  }

  @Test
  void autoResumeResumesAnExpiredSandbox() throws IOException {
    for (ExpiryAction what : List.of(ExpiryAction.PAUSE, ExpiryAction.SNAPSHOT)) {
      Path own = Files.createDirectory(folder.resolve(what.name()));
      try (EngineFixture fixture = new EngineFixture(own, "")) {
        make(fixture, expiring(what).withAutoResume(true));
        said(fixture, "echo kept > file");
        fixture.clock.pass(Duration.ofHours(1));
        await().until(() -> state(fixture) != SandboxState.RUNNING);
        assertThat(said(fixture, "cat file")).isEqualTo("kept\n");
        assertThat(fixture.engine.sandboxes().view(IDLER).expiresAt())
            .isEqualTo(Optional.of(fixture.clock.instant().plus(Duration.ofHours(1))));
        assertThat(state(fixture)).isEqualTo(SandboxState.RUNNING);
      }
    }
  }

  @Test
  void sandboxSuspendedWhenIdleStaysSuspendedOnExpiry() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      make(
          fixture,
          expiring(ExpiryAction.PAUSE)
              .withWhenIdle(ExpiryAction.PAUSE)
              .withIdleTimeout(IDLE)
              .withAutoResume(true));
      fixture.clock.pass(IDLE.plusSeconds(1));
      await().until(() -> state(fixture) == SandboxState.PAUSED);
      fixture.clock.pass(Duration.ofHours(2));
      await().until(() -> fixture.engine.sandboxes().view(IDLER).expiresAt().isEmpty());
      assertThat(said(fixture, "echo yes")).isEqualTo("yes\n");
      assertThat(fixture.engine.sandboxes().view(IDLER).idleTimeout()).isEqualTo(Optional.of(IDLE));
    }
  }
}
