package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Startup;
import dev.isola.engine.startup.StartupSequence;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Start and ready commands, with real processes of the test provider. */
class StartupTest {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Commands of the test provider see the files of the host. */
  @TempDir Path shared;

  @TempDir Path folder;

  private EngineFixture fixture(String yaml) throws IOException {
    return new EngineFixture(folder, yaml);
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM));
  }

  private static SandboxRequest request(Startup startup) {
    return SandboxRequest.of(CreateRequest.of(spec().build(), "test")).withStartup(startup);
  }

  /** Writes a line whenever it is started, and keeps running. */
  private Command start() {
    return Command.shell("echo started >> " + file("starts") + "; exec sleep 600");
  }

  /** Succeeds once the test creates a file. */
  private Command ready() {
    return Command.shell("test -f " + file("go"));
  }

  private Startup waiting() {
    return Startup.NONE.withStart(start()).withReady(ready());
  }

  private Path file(String name) {
    return shared.resolve(name);
  }

  private void go() throws IOException {
    Files.createFile(file("go"));
  }

  private void awaitStart() {
    await().until(() -> Files.exists(file("starts")));
  }

  private static void assertNothingIsLeft(EngineFixture fixture) {
    assertThat(fixture.registry.get("test").inventory()).isEmpty();
    assertThat(
            fixture.engine.sandboxes().list(SandboxListFilter.ALL.notDestroyed(), "", 10).entries())
        .isEmpty();
    assertThat(fixture.engine.reserved().reserved()).isEqualTo(Resources.NONE);
  }

  private static SandboxException failure(EngineFixture fixture, SandboxRequest request) {
    return catchThrowableOfType(
        SandboxException.class, () -> fixture.engine.creator().create(request));
  }

  /** A client whose create fails. */
  private record Client(Thread thread, CompletableFuture<SandboxException> failed) {
    static Client creating(EngineFixture fixture, SandboxRequest request) {
      CompletableFuture<SandboxException> failed = new CompletableFuture<>();
      return new Client(
          Thread.ofVirtual().start(() -> failed.complete(StartupTest.failure(fixture, request))),
          failed);
    }

    boolean waits() {
      return thread.getState() == Thread.State.TIMED_WAITING
          || thread.getState() == Thread.State.WAITING;
    }

    SandboxException failure() throws InterruptedException, ExecutionException {
      return failed.get();
    }
  }

  private static List<ExecutionInfo> executions(Sandbox sandbox) {
    return sandbox.as(Attaching.class).orElseThrow().executions();
  }

  @Test
  void sandboxIsRunningWhenItsReadyCommandHasSucceeded() throws Exception {
    try (EngineFixture fixture = fixture("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = request(waiting());
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> fixture.engine.creator().create(request));
      awaitStart();
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.CREATING);
      go();
      CreateResult delivery = create.get();
      assertThat(delivery.view().state()).isEqualTo(SandboxState.RUNNING);
      assertThat(executions(delivery.sandbox()))
          .filteredOn(ExecutionInfo::running)
          .singleElement()
          .satisfies(one -> assertThat(one.tag()).hasValue(StartupSequence.TAG));
      assertThat(fixture.engine.events().after(0, 100))
          .extracting(EventView::type)
          .contains("ready");
    }
  }

  @Test
  void repeatedCreateWaitsForTheStartupAndGetsTheSameSandbox() throws Exception {
    try (EngineFixture fixture = fixture("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<CreateResult> first =
          clients.submit(
              () -> fixture.engine.creator().create(request(waiting()).withIdempotencyKey("k")));
      awaitStart();
      Future<CreateResult> second =
          clients.submit(
              () -> fixture.engine.creator().create(request(waiting()).withIdempotencyKey("k")));
      SandboxListFilter creating = SandboxListFilter.ALL.states(SandboxState.CREATING);
      assertThat(fixture.engine.sandboxes().list(creating, "", 10).entries()).hasSize(1);
      Resources one = Resources.of(spec().build().limits());
      await().until(() -> fixture.engine.reserved().reserved().equals(one));
      go();
      assertThat(second.get().view().id()).isEqualTo(first.get().view().id());
      assertThat(second.get().view().state()).isEqualTo(SandboxState.RUNNING);
      assertThat(second.get().repeated()).isTrue();
      assertThat(Files.readAllLines(file("starts"))).hasSize(1);
      assertThat(fixture.registry.get("test").inventory()).hasSize(1);
    }
  }

  @Test
  void failedStartCommandLeavesNothingBehindAndReportsTheCause() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Command start = Command.shell("echo hello; echo broken >&2; exit 3");
      SandboxRequest request =
          request(Startup.NONE.withStart(start).withReady(ready())).withIdempotencyKey("k");
      SandboxException error = failure(fixture, request);
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error).hasMessageContaining("start command failed with exit code 3");
      assertThat(error.context())
          .containsEntry("exitCode", "3")
          .containsEntry("command", start.display())
          .hasEntrySatisfying(
              "output", text -> assertThat(text).contains("hello\n").contains("broken\n"));
      assertNothingIsLeft(fixture);
      String cause =
          fixture.engine.sandboxes().view(request.request().spec().id()).cause().orElse("");
      assertThat(cause).contains("exit code 3").doesNotContain("broken");

      go();
      assertThat(
              fixture
                  .engine
                  .creator()
                  .create(request(waiting()).withIdempotencyKey("k"))
                  .repeated())
          .isFalse();
    }
  }

  @Test
  void invalidCommandIsAClientError() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Command missing = Command.argv("/no/such/program");
      assertThat(failure(fixture, request(Startup.NONE.withStart(missing))))
          .hasMessageContaining("start command cannot be started")
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INIT_FAILED));
      assertThat(failure(fixture, request(Startup.NONE.withReady(missing))))
          .hasMessageContaining("ready command cannot be started")
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INIT_FAILED));
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void unsuccessfulReadyCommandLeavesNothingBehindAndReportsTheCause() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Startup never =
          Startup.NONE
              .withStart(Command.shell("echo listening nowhere; exec sleep 600"))
              .withReady(Command.shell("echo refused; exit 7"))
              .withTimeout(Duration.ofSeconds(2));
      SandboxException error = failure(fixture, request(never));
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error)
          .hasMessageContaining("ready command did not succeed within 2 s")
          .hasMessageContaining("last exit code was 7");
      assertThat(error.context())
          .containsEntry("output", "refused\n")
          .containsEntry("startOutput", "listening nowhere\n");
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void hangingReadyCommandTimesOut() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Startup hangs =
          Startup.NONE
              .withReady(Command.shell("exec sleep 600"))
              .withTimeout(Duration.ofSeconds(1));
      assertThat(failure(fixture, request(hangs)))
          .hasMessageContaining("ready command did not succeed within 1 s");
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void failedStartCommandEndsAHangingReadyCommand() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Startup hangs =
          Startup.NONE
              .withStart(Command.shell("exit 4"))
              .withReady(Command.shell("exec sleep 600"))
              .withTimeout(Duration.ofMinutes(30));
      assertThat(failure(fixture, request(hangs))).hasMessageContaining("exit code 4");
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void endlessOutputIsDrainedAndBounded() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Startup endless =
          Startup.NONE
              .withStart(Command.shell("while :; do echo 0123456789; done"))
              .withReady(Command.shell("head -c 3000000 /dev/zero; exit 1"))
              .withTimeout(Duration.ofSeconds(2));
      SandboxException error = failure(fixture, request(endless));
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error.context().get("startOutput")).contains("0123456789").hasSizeLessThan(2100);
      assertThat(error.context().get("output")).hasSizeLessThan(2100);
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void unreadOutputDoesNotBlockTheStartCommand() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      Command chatty =
          Command.shell("head -c 5000000 /dev/zero; touch " + file("go") + "; exec sleep 600");
      CreateResult delivery =
          fixture
              .engine
              .creator()
              .create(request(Startup.NONE.withStart(chatty).withReady(ready())));
      assertThat(delivery.view().state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void destroyCancelsTheStartup() throws Exception {
    try (EngineFixture fixture = fixture("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = request(waiting().withTimeout(Duration.ofMinutes(30)));
      Future<CreateResult> create = clients.submit(() -> fixture.engine.creator().create(request));
      awaitStart();
      fixture.engine.sandboxes().destroy(request.request().spec().id(), DestroyOptions.FORCE);
      assertThatThrownBy(create::get)
          .hasCauseInstanceOf(Gone.class)
          .hasMessageContaining("was destroyed while it was being created");
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void startingSandboxCannotBePaused() throws Exception {
    try (EngineFixture fixture = fixture("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = request(waiting());
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> fixture.engine.creator().create(request));
      awaitStart();
      assertThatThrownBy(() -> fixture.engine.sandboxes().pause(id, PauseKind.MEMORY))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("still being created");
      go();
      assertThat(create.get().view().state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void interruptedCreateLeavesNothingBehind() throws Exception {
    try (EngineFixture fixture = fixture("")) {
      SandboxRequest request = request(waiting().withTimeout(Duration.ofMinutes(30)));
      Client client = Client.creating(fixture, request);
      awaitStart();
      client.thread().interrupt();
      assertThat(client.failure().code()).isEqualTo(ErrorCode.CANCELLED);
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void repeatedCreateDoesNotReturnAFailedSandbox() throws Exception {
    try (EngineFixture fixture = fixture("")) {
      Command failing =
          Command.shell(
              "echo started >> "
                  + file("starts")
                  + "; until test -f "
                  + file("fail")
                  + "; do sleep 0.05; done; exit 5");
      Startup startup = Startup.NONE.withStart(failing).withReady(ready());
      Client first = Client.creating(fixture, request(startup).withIdempotencyKey("k"));
      awaitStart();
      Client second = Client.creating(fixture, request(startup).withIdempotencyKey("k"));
      await().until(second::waits);
      Files.createFile(file("fail"));
      assertThat(first.failure()).hasMessageContaining("exit code 5");
      // It waited for the first create, or came later and failed by itself.
      assertThat(second.failure()).hasMessageContaining("exit code 5");
      assertNothingIsLeft(fixture);
    }
  }

  @Test
  void failedStartupDoesNotFallBack() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.commandFailure =
        () -> Fault.of(ErrorCode.RESOURCE_LIMIT, "no process left", "").exception();
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture fixture = new EngineFixture(folder, "", gvisor, bubblewrap)) {
      SandboxRequest request =
          SandboxRequest.of(CreateRequest.auto(spec().build()))
              .withStartup(Startup.NONE.withStart(start()));
      assertThat(failure(fixture, request)).hasMessageContaining("no process left");
      assertThat(gvisor.created.get()).isEqualTo(1);
      assertThat(bubblewrap.created.get()).isZero();
      assertThat(fixture.engine.sandboxes().view(request.request().spec().id()).state())
          .isEqualTo(SandboxState.DESTROYED);
    }
  }

  @Test
  void reconciliationAndExpiryIgnoreAStartingSandbox() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.inventoryFailure =
        () -> {
          rounds.incrementAndGet();
          return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "counted", "").exception();
        };
    try (EngineFixture fixture = new EngineFixture(folder, "reconcile: {interval: 1s}", gvisor);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxId soon = idle(fixture, Duration.ofSeconds(30));
      SandboxId later = idle(fixture, Duration.ofSeconds(50));
      SandboxRequest request = request(waiting()).withIdleTimeout(Duration.ofSeconds(30));
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> fixture.engine.creator().create(request));
      awaitStart();
      int before = rounds.get();
      await().until(() -> rounds.get() >= before + 2);
      fixture.clock.pass(Duration.ofSeconds(45));
      await().until(() -> fixture.engine.sandboxes().view(soon).state() == SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.CREATING);
      go();
      assertThat(create.get().view().state()).isEqualTo(SandboxState.RUNNING);
      // The duration of the startup does not count as idle time.
      fixture.clock.pass(Duration.ofSeconds(10));
      await().until(() -> fixture.engine.sandboxes().view(later).state() == SandboxState.DESTROYED);
      assertThat(fixture.engine.sandboxes().view(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  private static SandboxId idle(EngineFixture fixture, Duration time) {
    return fixture.engine.creator().create(request(Startup.NONE).withIdleTimeout(time)).view().id();
  }

  @Test
  void startupRulesOutTheWarmPool() throws IOException {
    String pool =
        """
        pool:
          - provider: test
            size: 1
            spec: {}
        """;
    try (EngineFixture fixture = fixture(pool)) {
      SandboxListFilter pooled = SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING);
      await().until(() -> fixture.engine.sandboxes().list(pooled, "", 10).entries().size() == 1);
      go();
      assertThat(fixture.engine.creator().create(request(waiting())).view().warm()).isFalse();
      assertThat(Files.readAllLines(file("starts"))).hasSize(1);
      assertThat(fixture.engine.creator().create(request(Startup.NONE)).view().warm()).isTrue();
    }
  }

  @Test
  void startupRunsInEveryFork() throws IOException {
    try (EngineFixture fixture = fixture("")) {
      SandboxId source = fixture.engine.creator().create(request(Startup.NONE)).view().id();
      go();
      List<ForkResult> forks =
          fixture
              .engine
              .forks()
              .fork(source, ForkRequest.of(3, ForkKind.FILESYSTEM).withStartup(waiting()));
      assertThat(forks).hasSize(3).allMatch(ForkResult.Created.class::isInstance);
      assertThat(Files.readAllLines(file("starts"))).hasSize(3);
      for (ForkResult fork : forks) {
        SandboxId id = ((ForkResult.Created) fork).view().id();
        assertThat(executions(fixture.engine.sandboxes().get(id)))
            .filteredOn(ExecutionInfo::running)
            .extracting(ExecutionInfo::tag)
            .containsExactly(Optional.of(StartupSequence.TAG));
      }
    }
  }
}
