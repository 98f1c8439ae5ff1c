package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Behaviour specific to PostgreSQL: connections, refusals, deadlocks, durability. */
class PostgresBehaviourTest {
  /** After so many executions the driver prepares a statement on the server. */
  private static final int PREPARED_AFTER = 20;

  private final PostgresTestDatabase database = new PostgresTestDatabase();
  LedgerConfig config;
  SqlLedger ledger;

  @BeforeEach
  void open() {
    config = database.fresh().withDeadline(Duration.ofMillis(800));
    ledger = Ledgers.open(config, Migrations.all());
  }

  @AfterEach
  void close() {
    ledger.close();
    database.remove(config);
  }

  private LedgerConfig.Server server() {
    return (LedgerConfig.Server) config.location();
  }

  private Ledger open(String url, String user, String password) {
    return Ledgers.open(
        new LedgerConfig(
            new LedgerConfig.Server(url, user, Secret.of(password), "isola", 2),
            Duration.ofMillis(800),
            Duration.ZERO));
  }

  /** Makes the database fail with an SQLSTATE. */
  private SandboxException failing(String state) {
    try {
      ledger
          .database()
          .write(
              c ->
                  Sql.update(
                      c,
                      "do $$ begin raise exception 'row (secret)' using errcode = '"
                          + state
                          + "'; end $$"));
    } catch (SandboxException e) {
      return e;
    }
    throw new AssertionError("it did not fail");
  }

  @Test
  void leaseIsRenewedWhileEveryConnectionIsBusy() throws InterruptedException {
    ledger.close();
    LedgerConfig.Server shared = server().asShared();
    ledger =
        Ledgers.open(
            new LedgerConfig(shared, Duration.ofSeconds(30), Duration.ZERO), Migrations.all());
    Duration lease = Duration.ofSeconds(5);
    ledger.leases().register("a", "a1", "http://a", "1.0", lease);
    CountDownLatch busy = new CountDownLatch(shared.connections());
    CountDownLatch enough = new CountDownLatch(1);
    List<Thread> calls = new ArrayList<>();
    for (int i = 0; i < shared.connections(); i++) {
      calls.add(
          Thread.ofVirtual()
              .start(
                  () ->
                      ledger
                          .database()
                          .read(
                              c -> {
                                busy.countDown();
                                awaitUninterrupted(enough);
                                return true;
                              })));
    }
    busy.await();
    Thread waiting = Thread.ofVirtual().start(() -> ledger.servers().all());
    assertThat(ledger.leases().renew("a", "a1", lease, "")).isEqualTo(LeaseRenewal.RENEWED);
    assertThat(ledger.leases().all()).extracting(ServerEntry::alive).containsExactly(true);
    assertThat(waiting.isAlive()).as("another call has to wait for a connection").isTrue();
    enough.countDown();
    waiting.join();
    for (Thread call : calls) {
      call.join();
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void serverContinuesAfterANewerOneHasAddedAColumn() throws SQLException {
    List<Map.Entry<String, Supplier<?>>> calls =
        List.of(
            Map.entry(
                "write", // first: the driver itself prepares all statements again after a read
                () -> ledger.sandboxes().takeOver(TakeOver.some("a", Set.of("docker"), 10))),
            Map.entry("read", () -> ledger.sandboxes().find(new SandboxId("none"))));
    for (int i = 0; i < PREPARED_AFTER; i++) {
      for (Map.Entry<String, Supplier<?>> call : calls) {
        assertThatCode(() -> call.getValue().get()).as(call.getKey()).doesNotThrowAnyException();
      }
    }
    PostgresTestDatabase.execute(
        "alter table " + PostgresTestDatabase.schema(config) + ".sandbox add column later text");
    for (Map.Entry<String, Supplier<?>> call : calls) {
      assertThatCode(() -> call.getValue().get()).as(call.getKey()).doesNotThrowAnyException();
    }
  }

  @Test
  void commitIsSynchronous() {
    // The test server has it off.
    String setting =
        ledger
            .database()
            .write(
                c ->
                    Sql.one(
                            c,
                            "select current_setting('synchronous_commit') as value",
                            row -> row.text("value"))
                        .orElseThrow());
    assertThat(setting).isEqualTo("on");
  }

  @Test
  void failuresHaveSpecificTypesAndNoValues() {
    assertThat(failing("53100")).isInstanceOf(LimitExceeded.class);
    assertThat(failing("53100").code()).isEqualTo(ErrorCode.DISK_FULL);
    assertThat(failing("53300").code()).isEqualTo(ErrorCode.RESOURCE_LIMIT);
    assertThat(failing("57P03")).isInstanceOf(ProviderUnavailable.class);
    assertThat(failing("57014")).isInstanceOf(DeadlineExceeded.class);
    assertThat(failing("40P01")).isInstanceOf(DeadlineExceeded.class);
    assertThat(failing("22012")).isInstanceOf(Internal.class);
    assertThat(failing("22012")).hasMessageContaining("22012");
    assertThat(failing("22012").getMessage()).doesNotContain("secret").doesNotContain("raise");
    ledger.settings().put("still", "alive", "yes");
  }

  @Test
  void wrongConnectionSettingsAreReportedWithoutSecrets() {
    String url = server().url();
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> open(url.replaceFirst("postgres$", "nothere"), "postgres", "x"))
        .withMessageContaining("rejected the login");
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> open(url, "unknown", "hunter2"))
        .withMessageNotContaining("hunter2");
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(
            () -> open("jdbc:postgresql://127.0.0.1:1/x?password=hunter2", "postgres", "hunter2"))
        .withMessageContaining("127.0.0.1:1/x")
        .withMessageNotContaining("hunter2");
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> open("jdbc:mysql://x/y?password=hunter2", "postgres", "hunter2"))
        .withMessageNotContaining("hunter2");
  }

  @Test
  void schemaOfAnotherProgramIsRefusedUnchanged() throws SQLException {
    LedgerConfig foreign = database.fresh();
    String schema = PostgresTestDatabase.schema(foreign);
    PostgresTestDatabase.execute("create schema " + schema);
    PostgresTestDatabase.execute("create table " + schema + ".theirs (a text)");

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(foreign))
        .withMessageContaining("another program")
        .withMessageContaining(schema);

    PostgresTestDatabase.execute("insert into " + schema + ".theirs values ('x')");
    database.remove(foreign);
  }

  @Test
  void concurrentStartsCreateOneSchema() throws InterruptedException {
    LedgerConfig shared = database.fresh();
    List<Long> last =
        LedgerContract.inThreads(
            4,
            () -> {
              try (Ledger each = openInTurn(shared)) {
                each.events().append(LedgerContract.event("a", "x"));
                return each.events().last();
              }
            });
    assertThat(last).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
    database.remove(shared);
  }

  /** Retries until the previous owners are gone. */
  private static Ledger openInTurn(LedgerConfig shared) {
    for (int tries = 0; ; tries++) {
      try {
        return Ledgers.open(shared);
      } catch (Conflict e) {
        if (tries == 20) {
          throw e;
        }
      }
    }
  }

  @Test
  void schemaHasOneOwner() {
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(config))
        .withMessageContaining("another Isola server")
        .withMessageContaining("pid " + ProcessHandle.current().pid());
    ledger.settings().put("a", "b", "still ours");
    ledger.close();
    try (Ledger next = Ledgers.open(config)) {
      assertThat(next.settings().get("a", "b")).contains("still ours");
    }
  }

  private LedgerConfig sharedConfig() {
    return new LedgerConfig(server().asShared(), config.deadline(), config.keyRetention());
  }

  @Test
  void serversThatShareASchemaUseItTogether() throws Exception {
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(sharedConfig()))
        .withMessageContaining("another Isola server");
    ledger.close();
    // Both open it at once: one replaces the owner of before, the other joins.
    List<Ledger> both =
        LedgerContract.together(Collections.nCopies(2, () -> Ledgers.open(sharedConfig())));
    try (Ledger one = both.getFirst();
        Ledger other = both.getLast()) {
      one.settings().put("a", "b", "of one");
      assertThat(other.settings().get("a", "b")).contains("of one");
      assertThatExceptionOfType(Conflict.class)
          .isThrownBy(() -> Ledgers.open(config))
          .withMessageContaining("in use by Isola servers that share it")
          .withMessageContaining("server.peer_url");
      cutOff();
      assertThat(eventually(() -> other.settings().get("a", "b"))).contains("of one");
    }
    try (Ledger alone = Ledgers.open(config)) {
      assertThat(alone.settings().get("a", "b")).contains("of one");
    }
  }

  private static <T> T eventually(Callable<T> work) throws Exception {
    for (int tries = 1; ; tries++) {
      try {
        return work.call();
      } catch (SandboxException e) {
        if (tries == 20) {
          throw e;
        }
      }
    }
  }

  @Test
  void replacedOwnerCannotWrite() throws SQLException {
    ledger.settings().put("a", "b", "ours");
    cutOff();
    try (Ledger next = Ledgers.open(config)) {
      next.settings().put("a", "b", "theirs");
      assertThatExceptionOfType(SandboxException.class)
          .isThrownBy(() -> ledger.settings().put("a", "b", "ours again"));
      assertThatExceptionOfType(Conflict.class)
          .isThrownBy(() -> ledger.settings().put("a", "b", "ours again"))
          .withMessageContaining("is now owned by another Isola server");
      assertThat(next.settings().get("a", "b")).contains("theirs");
    }
  }

  private static void cutOff() throws SQLException {
    PostgresTestDatabase.execute(
        "do $$ begin perform pg_terminate_backend(pid) from pg_stat_activity"
            + " where application_name like 'isola %'; end $$");
  }

  @Test
  void deadlockIsRetried() throws InterruptedException {
    ledger.settings().put("a", "one", "0");
    ledger.settings().put("a", "two", "0");
    // The server checks for deadlocks after one second, so the deadline must be longer.
    LedgerConfig patient = config.withDeadline(Duration.ofSeconds(10));
    ledger.close();
    try (Ledger ledger = Ledgers.open(patient)) {
      CyclicBarrier both = new CyclicBarrier(2);
      AtomicInteger runs = new AtomicInteger();
      LedgerContract.together(
          List.<Callable<Boolean>>of(
              () -> crosswise(ledger, "one", "two", both, runs),
              () -> crosswise(ledger, "two", "one", both, runs)));
      assertThat(runs).hasValueGreaterThanOrEqualTo(3);
      assertThat(ledger.settings().all("a").values()).containsOnly("1");
    }
  }

  private static boolean crosswise(
      Ledger ledger, String first, String second, CyclicBarrier both, AtomicInteger runs) {
    AtomicInteger mine = new AtomicInteger();
    return ledger.atomically(
        parts -> {
          runs.incrementAndGet();
          parts.settings().put("a", first, "1");
          if (mine.incrementAndGet() == 1) {
            meet(both);
          }
          parts.settings().put("a", second, "1");
          return true;
        });
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException | java.util.concurrent.BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void writePastItsDeadlineWritesNothing() throws InterruptedException {
    CountDownLatch holding = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    Thread holder =
        Thread.ofVirtual()
            .start(
                () ->
                    ledger.atomically(
                        parts -> {
                          parts.settings().put("a", "held", "1");
                          holding.countDown();
                          try {
                            letGo.await();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                          return true;
                        }));
    holding.await();
    try {
      assertThatExceptionOfType(DeadlineExceeded.class)
          .isThrownBy(() -> ledger.settings().put("a", "held", "2"));
      // Writes to other rows proceed in the meantime.
      ledger.settings().put("a", "b", "c");
    } finally {
      letGo.countDown();
      holder.join();
    }
    assertThat(ledger.settings().get("a", "held")).contains("1");
  }

  @Test
  void transactionsWithEventsDoNotWaitForEachOther() throws InterruptedException {
    CountDownLatch holding = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    Thread holder =
        Thread.ofVirtual()
            .start(
                () ->
                    ledger.atomically(
                        parts -> {
                          parts.events().append(LedgerContract.event("a", "first"));
                          holding.countDown();
                          try {
                            letGo.await();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                          return true;
                        }));
    holding.await();
    ledger.events().append(LedgerContract.event("b", "second"));
    assertThat(ledger.events().after(0, 9)).extracting(LedgerEvent::type).containsExactly("second");
    letGo.countDown();
    holder.join();
    // A reader that has seen the later event gets the other one, too.
    assertThat(ledger.events().after(1, 9)).extracting(LedgerEvent::type).containsExactly("first");
    assertThat(ledger.events().last()).isEqualTo(2);
  }

  @Test
  void brokenConnectionsAreReplaced() throws SQLException {
    ledger.settings().put("a", "b", "1");
    cutOff();
    // The interrupted call may fail with its specific type; the next one succeeds.
    try {
      ledger.settings().put("a", "b", "2");
    } catch (ProviderUnavailable e) {
      assertThat(e).hasMessageContaining("is unavailable");
    }
    ledger.settings().put("a", "b", "3");
    assertThat(ledger.settings().get("a", "b")).contains("3");
  }

  @Test
  void closedLedgerIsReported() {
    ledger.close();
    ledger.close();
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> ledger.settings().get("a", "b"))
        .withMessageContaining("closed");
  }
}
