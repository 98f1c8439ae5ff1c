package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.SandboxHome;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.ServerView;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.peer.ServerIdentity;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.LedgerConfig;
import dev.isola.store.PostgresTestDatabase;
import dev.isola.store.SandboxEntry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two engines on one PostgreSQL ledger, with a backend in memory that both reach. */
@Tag("all")
class SeveralServersTest {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Server a renews its lease rarely, so that a test can end it in between. */
  private static final Duration LEASE_OF_A = Duration.ofSeconds(20);

  private static final Duration LEASE = Duration.ofSeconds(2);

  @TempDir Path folder;
  private final PostgresTestDatabase database = new PostgresTestDatabase();
  private final FakeSharedProvider cloud = new FakeSharedProvider("cloud");
  private final FakeSharedProvider cloudOfB = cloud.ofAnotherServer();
  private LedgerConfig config;
  private EngineFixture a;
  private EngineFixture b;

  /** Ends creations that a test does not want to end earlier. */
  private final CountDownLatch finish = new CountDownLatch(1);

  @BeforeEach
  void open() throws IOException {
    LedgerConfig alone = database.fresh();
    config =
        new LedgerConfig(
            ((LedgerConfig.Server) alone.location()).asShared(),
            alone.deadline(),
            alone.keyRetention());
    Path key = folder.resolve("secrets.key");
    Files.writeString(key, Base64.getEncoder().encodeToString(new byte[32]));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    a = server("a", cloud, LEASE_OF_A);
    b = server("b", cloudOfB, LEASE);
  }

  private EngineFixture server(String name, FakeSharedProvider provider, Duration lease)
      throws IOException {
    return new EngineFixture(
        Files.createDirectories(folder.resolve(name)),
        config,
        Optional.of(
            new ServerIdentity(
                name, name + RANDOM.nextInt(), URI.create("http://" + name), "1", lease)),
        "secrets: {key: \"file:"
            + folder.resolve("secrets.key")
            + "\"}\nreconcile: {interval: 1s}\n",
        provider);
  }

  @AfterEach
  void close() {
    finish.countDown();
    b.close();
    a.close();
    database.remove(config);
  }

  private static Peers peers(EngineFixture server) {
    return server.engine.peers().orElseThrow();
  }

  private static SandboxRequest request() {
    return SandboxRequest.of(
        CreateRequest.of(SandboxSpec.builder(SandboxId.random(RANDOM)).build(), "cloud"));
  }

  private SandboxId createAtA() {
    return a.engine.creator().create(request()).view().id();
  }

  /** Ends the lease of a server that still runs, as if it had been suspended for a while. */
  private void endLease(String name) {
    String incarnation =
        b.ledger.servers().all().stream()
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow()
            .incarnation();
    b.ledger.servers().release(name, incarnation);
  }

  private SandboxEntry entry(SandboxId id) {
    return b.ledger.sandboxes().find(id).orElseThrow();
  }

  @Test
  void otherServersFindTheOwner() {
    SandboxId id = createAtA();
    assertThat(peers(a).homeOf(id)).isEqualTo(new SandboxHome.Here());
    assertThat(peers(b).homeOf(id)).isEqualTo(new SandboxHome.At("a", URI.create("http://a")));
    assertThat(peers(b).homeOf(new SandboxId("unknown"))).isEqualTo(new SandboxHome.Here());
    assertThat(peers(b).all()).extracting(ServerView::name).containsExactly("a", "b");
    assertThat(peers(a).key().reveal()).isEqualTo(peers(b).key().reveal());
  }

  @Test
  void serverDoesNotUseTheSandboxOfAnother() {
    SandboxId id = createAtA();
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> b.engine.sandboxes().get(id))
        .withMessageContaining("belongs to server a");
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> b.engine.sandboxes().destroy(id, DestroyOptions.FORCE));
    assertThat(entry(id).state()).isEqualTo(SandboxState.RUNNING);
    assertThat(cloudOfB.attached).hasValue(0);
  }

  @Test
  void sandboxesOfAServerWithoutLeaseAreTakenOver() {
    SandboxId id = createAtA();
    endLease("a");
    await().untilAsserted(() -> assertThat(entry(id).owner()).isEqualTo("b"));
    assertThat(entry(id).fence()).isEqualTo(1);
    assertThat(entry(id).state()).isEqualTo(SandboxState.RUNNING);
    assertThat(peers(b).homeOf(id)).isEqualTo(new SandboxHome.Here());
    assertThat(b.engine.sandboxes().get(id).id()).isEqualTo(id);
    // The server that lost the sandbox notices, and passes requests on.
    await()
        .untilAsserted(
            () ->
                assertThat(peers(a).homeOf(id))
                    .isEqualTo(new SandboxHome.At("b", URI.create("http://b"))));
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> a.engine.sandboxes().renew(id, Duration.ofHours(1)));
    assertThat(cloud.destroyed).isEmpty();
  }

  @Test
  void requestTakesOverTheSandboxOfAServerThatIsGone() {
    SandboxId id = createAtA();
    a.engine.close(); // ends the lease
    await().until(() -> peers(b).homeOf(id).equals(new SandboxHome.Here()));
    assertThat(b.engine.sandboxes().get(id).id()).isEqualTo(id);
  }

  @Test
  void unfinishedWorkOfAServerThatIsGoneIsFinished() {
    SandboxEntry creating = a.ledger.sandboxes().insert(intentLike(entry(createAtA())));
    endLease("a");
    await()
        .untilAsserted(
            () -> assertThat(entry(creating.id()).state()).isEqualTo(SandboxState.DESTROYED));
    assertThat(entry(creating.id()).cause().orElseThrow()).contains("while the sandbox was being");
  }

  private SandboxEntry intentLike(SandboxEntry template) {
    SandboxId id = SandboxId.random(RANDOM);
    return SandboxEntry.intent(
            id,
            template.spec().replace(template.id().value(), id.value()),
            template.specHash(),
            template.provider(),
            template.isolation(),
            a.clock.instant())
        .owner("a")
        .build();
  }

  @Test
  void keyOfARepeatedRequestHoldsAtEveryServer() {
    SandboxRequest first = request().withIdempotencyKey("key");
    SandboxRequest second = request().withIdempotencyKey("key");
    CreateResult created = a.engine.creator().create(first);
    CreateResult repeated = b.engine.creator().create(second);
    assertThat(repeated.repeated()).isTrue();
    assertThat(repeated.view().id()).isEqualTo(created.view().id());
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> repeated.sandbox().state());
    assertThat(cloud.running()).hasSize(1);
  }

  @Test
  void repeatedRequestForADestroyedSandboxIsRefusedAtEveryServer() {
    SandboxId id = a.engine.creator().create(request().withIdempotencyKey("key")).view().id();
    a.engine.sandboxes().destroy(id, DestroyOptions.FORCE);
    for (EngineFixture server : List.of(a, b)) {
      assertThatExceptionOfType(Gone.class)
          .isThrownBy(() -> server.engine.creator().create(request().withIdempotencyKey("key")));
    }
  }

  /** Its server had no lease when the creation failed, so it finds the sandbox unfinished later. */
  @Test
  void repeatedRequestMayBeRepeatedAfterAnInterruptedCreation() throws Exception {
    repeatedRequestFails(
        SandboxRecorder.INTERRUPTED, ProviderUnavailable.class, "was creating sandbox");
  }

  @Test
  void repeatedRequestIsToldOfAFailedCreation() throws Exception {
    repeatedRequestFails("no such image", Gone.class, "failed: no such image");
  }

  /** Repeats a request at server b; then its creation at server a ends for this cause. */
  private void repeatedRequestFails(String cause, Class<? extends Throwable> type, String message)
      throws Exception {
    SandboxEntry creating = creatingAtA();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<CreateResult> repeated =
          clients.submit(() -> b.engine.creator().create(request().withIdempotencyKey("key")));
      b.ledger
          .sandboxes()
          .update(creating.toBuilder().state(SandboxState.TERMINATING).cause(cause).build());
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(repeated::get)
          .withCauseInstanceOf(type)
          .withMessageContaining(message);
    }
  }

  /** Returns a sandbox that server a does not finish, with the idempotency key "key". */
  private SandboxEntry creatingAtA() throws InterruptedException {
    CountDownLatch created = new CountDownLatch(1);
    cloud.afterCreate =
        () -> {
          created.countDown();
          finish.await();
        };
    SandboxRequest request = request().withIdempotencyKey("key");
    CompletableFuture<CreateResult> _ =
        CompletableFuture.supplyAsync(
            () -> a.engine.creator().create(request), Thread::startVirtualThread);
    created.await();
    return entry(request.request().spec().id());
  }

  @Test
  void eventsOfAllServersAreOneFeed() throws InterruptedException {
    long before = b.engine.events().lastNumber();
    SandboxId id = createAtA();
    List<EventView> events = b.engine.events().await(before, 10, Duration.ofSeconds(30));
    assertThat(events).isNotEmpty();
    assertThat(events.getFirst().sandbox()).contains(id);
  }

  @Test
  void ownerAloneExpiresASandbox() {
    SandboxId id = a.engine.creator().create(SandboxRequest.of(expiring())).view().id();
    a.clock.pass(Duration.ofMinutes(2));
    b.clock.pass(Duration.ofMinutes(2));
    await().untilAsserted(() -> assertThat(entry(id).state()).isEqualTo(SandboxState.DESTROYED));
    assertThat(b.ledger.sandboxes().transitions(id))
        .extracting(one -> one.to().name())
        .containsExactly("CREATING", "RUNNING", "TERMINATING", "DESTROYED");
    assertThat(cloud.destroyed).containsExactly(id);
  }

  private static CreateRequest expiring() {
    return CreateRequest.of(SandboxSpec.builder(SandboxId.random(RANDOM)).build(), "cloud")
        .withTtl(Duration.ofMinutes(1));
  }

  @Test
  void unrecordedSandboxIsRemovedAndThatOfAnotherServerIsNot() {
    SandboxId recorded = createAtA();
    SandboxId unknown = SandboxId.random(RANDOM);
    cloud.create(SandboxSpec.builder(unknown).build());
    await().untilAsserted(() -> assertThat(cloud.running()).containsOnlyKeys(recorded));
  }

  @Test
  void lostSandboxIsRecordedByItsOwnerWhicheverServerComparesTheInventory() {
    SandboxId lost = createAtA();
    SandboxId lostOfB = b.engine.creator().create(request()).view().id();
    SandboxId kept = createAtA();
    cloud.lose(lost);
    cloud.lose(lostOfB);
    for (SandboxId id : List.of(lost, lostOfB)) {
      await().untilAsserted(() -> assertThat(entry(id).state()).isEqualTo(SandboxState.DESTROYED));
      assertThat(entry(id).cause().orElseThrow()).isEqualTo("lost: cloud no longer has it");
    }
    assertThat(entry(lost).owner()).isEqualTo("a");
    assertThat(entry(lostOfB).owner()).isEqualTo("b");
    assertThat(entry(kept).state()).isEqualTo(SandboxState.RUNNING);
  }

  @Test
  void serverThatDoesNotSeeTheSandboxesOfOthersDoesNotEndThem() {
    SandboxId id = createAtA();
    cloudOfB.blind = true;
    await()
        .untilAsserted(
            () ->
                assertThat(a.log.warnings)
                    .anyMatch(one -> one.contains("another server has not found sandbox " + id)));
    assertThat(entry(id).state()).isEqualTo(SandboxState.RUNNING);
    assertThat(cloud.running()).containsOnlyKeys(id);
  }

  @Test
  void oneServerComparesTheInventoryForAll() {
    long start = System.nanoTime();
    int before = cloud.inventories.get() + cloudOfB.inventories.get();
    await().until(() -> cloud.inventories.get() + cloudOfB.inventories.get() >= before + 10);
    long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
    // With an inventory for each server and second there would be twice as many.
    assertThat(cloud.inventories.get() + cloudOfB.inventories.get() - before)
        .isLessThanOrEqualTo((int) seconds + 2);
  }

  @Test
  void sandboxThatIsBeingCreatedIsNeitherLostNorRemoved() throws InterruptedException {
    CountDownLatch created = new CountDownLatch(1);
    CountDownLatch proceed = new CountDownLatch(1);
    cloud.afterCreate =
        () -> {
          created.countDown();
          proceed.await();
        };
    SandboxRequest request = request();
    Thread creation = Thread.ofVirtual().start(() -> a.engine.creator().create(request));
    created.await();
    int before = cloud.inventories.get() + cloudOfB.inventories.get();
    await().until(() -> cloud.inventories.get() + cloudOfB.inventories.get() >= before + 3);
    proceed.countDown();
    creation.join();
    assertThat(cloud.destroyed).isEmpty();
    assertThat(b.ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed()))
        .extracting(SandboxEntry::state)
        .containsExactly(SandboxState.RUNNING);
  }

  @Test
  void claimOfAServerThatDiedDelaysTheComparisonByOneInterval() {
    SandboxId id = createAtA();
    // Another server claims the comparison and dies at once.
    await().until(() -> b.ledger.servers().claimTask("inventory of cloud", Duration.ofSeconds(3)));
    cloud.lose(id);
    await().untilAsserted(() -> assertThat(entry(id).state()).isEqualTo(SandboxState.DESTROYED));
  }

  @Test
  void differencesOfAServerThatIsGoneDoNotApplyToTheNextOwner() {
    SandboxId id = createAtA();
    cloudOfB.blind = true;
    cloud.blind = true; // both report it as missing, but it exists
    await().until(() -> b.ledger.settings().get("inventory-differences/cloud", "a").isPresent());
    endLease("a");
    await().untilAsserted(() -> assertThat(entry(id).owner()).isEqualTo("b"));
    cloud.blind = false;
    cloudOfB.blind = false;
    await().until(() -> b.ledger.settings().all("inventory-differences/cloud").isEmpty());
    assertThat(entry(id).state()).isEqualTo(SandboxState.RUNNING);
    assertThat(cloud.destroyed).isEmpty();
  }

  @Test
  void manySandboxesAreTakenOverByTheServersThatAreLeft() throws IOException {
    try (EngineFixture c = server("c", cloud.ofAnotherServer(), Duration.ofMinutes(10))) {
      Set<SandboxId> created = new HashSet<>();
      for (int i = 0; i < 250; i++) {
        created.add(c.engine.creator().create(request()).view().id());
      }
      endLease("c");
      await()
          .untilAsserted(
              () ->
                  assertThat(b.ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed()))
                      .extracting(SandboxEntry::owner)
                      .hasSize(250)
                      .isSubsetOf("a", "b"));
      assertThat(cloud.running().keySet()).isEqualTo(created);
      assertThat(cloud.destroyed).isEmpty();
    }
  }
}
