package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.engine.snapshot.ForkResult;
import dev.isola.engine.startup.Startup;
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

  private EngineFixture house(String yaml) throws IOException {
    return new EngineFixture(folder, yaml);
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM));
  }

  private static SandboxRequest order(Startup startup) {
    return SandboxRequest.of(CreateRequest.of(spec().build(), "test")).withStartup(startup);
  }

  /** Writes a line for each time it is started, and goes on. */
  private Command start() {
    return Command.shell("echo started >> " + file("starts") + "; exec sleep 600");
  }

  /** Succeeds once the test says so. */
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

  private static void assertNothingIsLeft(EngineFixture house) {
    assertThat(house.registry.get("test").inventory()).isEmpty();
    assertThat(house.engine.list(SandboxListFilter.ALL.notDestroyed(), "", 10).entries()).isEmpty();
    assertThat(house.engine.reserved().reserved()).isEqualTo(Resources.NONE);
  }

  private static SandboxException failure(EngineFixture house, SandboxRequest request) {
    return catchThrowableOfType(SandboxException.class, () -> house.engine.create(request));
  }

  /** A client whose create fails. */
  private record Client(Thread thread, CompletableFuture<SandboxException> failed) {
    static Client creating(EngineFixture house, SandboxRequest request) {
      CompletableFuture<SandboxException> failed = new CompletableFuture<>();
      return new Client(
          Thread.ofVirtual().start(() -> failed.complete(StartupTest.failure(house, request))),
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
    try (EngineFixture house = house("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = order(waiting());
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> house.engine.create(request));
      awaitStart();
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.CREATING);
      go();
      CreateResult delivery = create.get();
      assertThat(delivery.view().state()).isEqualTo(SandboxState.RUNNING);
      assertThat(executions(delivery.sandbox()))
          .filteredOn(ExecutionInfo::running)
          .singleElement()
          .satisfies(one -> assertThat(one.tag()).hasValue(StartupSequence.TAG));
      assertThat(house.engine.events().after(0, 100)).extracting(EventView::type).contains("ready");
    }
  }

  @Test
  void repeatedCreateWaitsForTheStartupAndGetsTheSameSandbox() throws Exception {
    try (EngineFixture house = house("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<CreateResult> first =
          clients.submit(() -> house.engine.create(order(waiting()).withIdempotencyKey("k")));
      awaitStart();
      Future<CreateResult> second =
          clients.submit(() -> house.engine.create(order(waiting()).withIdempotencyKey("k")));
      SandboxListFilter creating = SandboxListFilter.ALL.states(SandboxState.CREATING);
      assertThat(house.engine.list(creating, "", 10).entries()).hasSize(1);
      Resources one = Resources.of(spec().build().limits());
      await().until(() -> house.engine.reserved().reserved().equals(one));
      go();
      assertThat(second.get().view().id()).isEqualTo(first.get().view().id());
      assertThat(second.get().view().state()).isEqualTo(SandboxState.RUNNING);
      assertThat(second.get().repeated()).isTrue();
      assertThat(Files.readAllLines(file("starts"))).hasSize(1);
      assertThat(house.registry.get("test").inventory()).hasSize(1);
    }
  }

  @Test
  void failedStartCommandLeavesNothingAndSaysWhy() throws IOException {
    try (EngineFixture house = house("")) {
      Command start = Command.shell("echo hello; echo broken >&2; exit 3");
      SandboxRequest request =
          order(Startup.NONE.withStart(start).withReady(ready())).withIdempotencyKey("k");
      SandboxException error = failure(house, request);
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error).hasMessageContaining("start command failed with exit code 3");
      assertThat(error.context())
          .containsEntry("exitCode", "3")
          .containsEntry("command", start.display())
          .hasEntrySatisfying(
              "output", text -> assertThat(text).contains("hello\n").contains("broken\n"));
      assertNothingIsLeft(house);
      String cause = house.engine.view(request.request().spec().id()).cause().orElse("");
      assertThat(cause).contains("exit code 3").doesNotContain("broken");

      go();
      assertThat(house.engine.create(order(waiting()).withIdempotencyKey("k")).repeated())
          .isFalse();
    }
  }

  @Test
  void commandThatCannotBeStartedIsAnErrorOfTheClient() throws IOException {
    try (EngineFixture house = house("")) {
      Command missing = Command.argv("/no/such/program");
      assertThat(failure(house, order(Startup.NONE.withStart(missing))))
          .hasMessageContaining("start command cannot be started")
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INIT_FAILED));
      assertThat(failure(house, order(Startup.NONE.withReady(missing))))
          .hasMessageContaining("ready command cannot be started")
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INIT_FAILED));
      assertNothingIsLeft(house);
    }
  }

  @Test
  void readyCommandThatNeverSucceedsLeavesNothingAndSaysWhy() throws IOException {
    try (EngineFixture house = house("")) {
      Startup never =
          Startup.NONE
              .withStart(Command.shell("echo listening nowhere; exec sleep 600"))
              .withReady(Command.shell("echo refused; exit 7"))
              .withTimeout(Duration.ofSeconds(2));
      SandboxException error = failure(house, order(never));
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error)
          .hasMessageContaining("ready command did not succeed within 2 s")
          .hasMessageContaining("last exit code was 7");
      assertThat(error.context())
          .containsEntry("output", "refused\n")
          .containsEntry("startOutput", "listening nowhere\n");
      assertNothingIsLeft(house);
    }
  }

  @Test
  void readyCommandThatHangsEndsAtTheTimeout() throws IOException {
    try (EngineFixture house = house("")) {
      Startup hangs =
          Startup.NONE
              .withReady(Command.shell("exec sleep 600"))
              .withTimeout(Duration.ofSeconds(1));
      assertThat(failure(house, order(hangs)))
          .hasMessageContaining("ready command did not succeed within 1 s");
      assertNothingIsLeft(house);
    }
  }

  @Test
  void failedStartCommandEndsAReadyCommandThatHangs() throws IOException {
    try (EngineFixture house = house("")) {
      Startup hangs =
          Startup.NONE
              .withStart(Command.shell("exit 4"))
              .withReady(Command.shell("exec sleep 600"))
              .withTimeout(Duration.ofMinutes(30));
      assertThat(failure(house, order(hangs))).hasMessageContaining("exit code 4");
      assertNothingIsLeft(house);
    }
  }

  @Test
  void endlessOutputIsReadAndBounded() throws IOException {
    try (EngineFixture house = house("")) {
      Startup endless =
          Startup.NONE
              .withStart(Command.shell("while :; do echo 0123456789; done"))
              .withReady(Command.shell("head -c 3000000 /dev/zero; exit 1"))
              .withTimeout(Duration.ofSeconds(2));
      SandboxException error = failure(house, order(endless));
      assertThat(error.code()).isEqualTo(ErrorCode.INIT_FAILED);
      assertThat(error.context().get("startOutput")).contains("0123456789").hasSizeLessThan(2100);
      assertThat(error.context().get("output")).hasSizeLessThan(2100);
      assertNothingIsLeft(house);
    }
  }

  @Test
  void outputThatIsNotWaitedForDoesNotHoldTheStartCommandBack() throws IOException {
    try (EngineFixture house = house("")) {
      Command chatty =
          Command.shell("head -c 5000000 /dev/zero; touch " + file("go") + "; exec sleep 600");
      CreateResult delivery =
          house.engine.create(order(Startup.NONE.withStart(chatty).withReady(ready())));
      assertThat(delivery.view().state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void destroyDuringTheStartupEndsIt() throws Exception {
    try (EngineFixture house = house("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = order(waiting().withTimeout(Duration.ofMinutes(30)));
      Future<CreateResult> create = clients.submit(() -> house.engine.create(request));
      awaitStart();
      house.engine.destroy(request.request().spec().id(), DestroyOptions.FORCE);
      assertThatThrownBy(create::get)
          .hasCauseInstanceOf(Gone.class)
          .hasMessageContaining("was destroyed while it was being created");
      assertNothingIsLeft(house);
    }
  }

  @Test
  void sandboxThatIsStartingCannotBePaused() throws Exception {
    try (EngineFixture house = house("");
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxRequest request = order(waiting());
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> house.engine.create(request));
      awaitStart();
      assertThatThrownBy(() -> house.engine.pause(id, PauseKind.MEMORY))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("still being created");
      go();
      assertThat(create.get().view().state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  @Test
  void interruptedCreateLeavesNothing() throws Exception {
    try (EngineFixture house = house("")) {
      SandboxRequest request = order(waiting().withTimeout(Duration.ofMinutes(30)));
      Client client = Client.creating(house, request);
      awaitStart();
      client.thread().interrupt();
      assertThat(client.failure().code()).isEqualTo(ErrorCode.CANCELLED);
      assertNothingIsLeft(house);
    }
  }

  @Test
  void repeatedCreateIsNotGivenASandboxWhoseStartupFailed() throws Exception {
    try (EngineFixture house = house("")) {
      Command failing =
          Command.shell(
              "echo started >> "
                  + file("starts")
                  + "; until test -f "
                  + file("fail")
                  + "; do sleep 0.05; done; exit 5");
      Startup startup = Startup.NONE.withStart(failing).withReady(ready());
      Client first = Client.creating(house, order(startup).withIdempotencyKey("k"));
      awaitStart();
      Client second = Client.creating(house, order(startup).withIdempotencyKey("k"));
      await().until(second::waits);
      Files.createFile(file("fail"));
      assertThat(first.failure()).hasMessageContaining("exit code 5");
      // It waited for the first, or came after it and failed by itself.
      assertThat(second.failure()).hasMessageContaining("exit code 5");
      assertNothingIsLeft(house);
    }
  }

  @Test
  void failedStartupIsNotTriedAtAnotherProvider() throws IOException {
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.commandFailure =
        () -> Fault.of(ErrorCode.RESOURCE_LIMIT, "no process left", "").exception();
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    try (EngineFixture house = new EngineFixture(folder, "", gvisor, bubblewrap)) {
      SandboxRequest request =
          SandboxRequest.of(CreateRequest.auto(spec().build()))
              .withStartup(Startup.NONE.withStart(start()));
      assertThat(failure(house, request)).hasMessageContaining("no process left");
      assertThat(gvisor.created.get()).isEqualTo(1);
      assertThat(bubblewrap.created.get()).isZero();
      assertThat(house.engine.view(request.request().spec().id()).state())
          .isEqualTo(SandboxState.DESTROYED);
    }
  }

  @Test
  void sandboxThatIsStartingIsLeftAloneByReconciliationAndExpiry() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    FakeProvider gvisor = new FakeProvider("gvisor");
    gvisor.inventoryFailure =
        () -> {
          rounds.incrementAndGet();
          return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "counted", "").exception();
        };
    try (EngineFixture house = new EngineFixture(folder, "reconcile: {interval: 1s}", gvisor);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      SandboxId soon = idle(house, Duration.ofSeconds(30));
      SandboxId later = idle(house, Duration.ofSeconds(50));
      SandboxRequest request = order(waiting()).withIdleTimeout(Duration.ofSeconds(30));
      SandboxId id = request.request().spec().id();
      Future<CreateResult> create = clients.submit(() -> house.engine.create(request));
      awaitStart();
      int before = rounds.get();
      await().until(() -> rounds.get() >= before + 2);
      house.clock.pass(Duration.ofSeconds(45));
      await().until(() -> house.engine.view(soon).state() == SandboxState.DESTROYED);
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.CREATING);
      go();
      assertThat(create.get().view().state()).isEqualTo(SandboxState.RUNNING);
      // The time that the startup took does not count as idle.
      house.clock.pass(Duration.ofSeconds(10));
      await().until(() -> house.engine.view(later).state() == SandboxState.DESTROYED);
      assertThat(house.engine.view(id).state()).isEqualTo(SandboxState.RUNNING);
    }
  }

  private static SandboxId idle(EngineFixture house, Duration time) {
    return house.engine.create(order(Startup.NONE).withIdleTimeout(time)).view().id();
  }

  @Test
  void sandboxWithAStartupIsNotTakenFromTheWarmPool() throws IOException {
    String pool =
        """
        pool:
          - provider: test
            size: 1
            spec: {}
        """;
    try (EngineFixture house = house(pool)) {
      SandboxListFilter pooled = SandboxListFilter.ALL.pooled(true).states(SandboxState.RUNNING);
      await().until(() -> house.engine.list(pooled, "", 10).entries().size() == 1);
      go();
      assertThat(house.engine.create(order(waiting())).view().warm()).isFalse();
      assertThat(Files.readAllLines(file("starts"))).hasSize(1);
      assertThat(house.engine.create(order(Startup.NONE)).view().warm()).isTrue();
    }
  }

  @Test
  void startupRunsInEveryFork() throws IOException {
    try (EngineFixture house = house("")) {
      SandboxId source = house.engine.create(order(Startup.NONE)).view().id();
      go();
      List<ForkResult> forks = house.engine.fork(source, 3, ForkKind.FILESYSTEM, false, waiting());
      assertThat(forks).hasSize(3).allMatch(ForkResult.Created.class::isInstance);
      assertThat(Files.readAllLines(file("starts"))).hasSize(3);
      for (ForkResult fork : forks) {
        SandboxId id = ((ForkResult.Created) fork).view().id();
        assertThat(executions(house.engine.sandbox(id)))
            .filteredOn(ExecutionInfo::running)
            .extracting(ExecutionInfo::tag)
            .containsExactly(Optional.of(StartupSequence.TAG));
      }
    }
  }
}
