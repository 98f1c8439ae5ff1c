package dev.isola.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour specific to SQLite: one owner, one writer, durability, deadlines, a full disk. */
class SqliteBehaviourTest {
  @TempDir Path folder;
  SqlLedger ledger;

  @BeforeEach
  void open() {
    ledger = Ledgers.open(LedgerConfig.sqlite(folder), Migrations.all());
  }

  /** A busy machine may take longer for other operations than this deadline. */
  private void reopenWithShortDeadline() {
    ledger.close();
    ledger =
        Ledgers.open(
            LedgerConfig.sqlite(folder).withDeadline(Duration.ofMillis(500)), Migrations.all());
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  private String pragma(String name) {
    return ledger
        .database()
        .write(c -> Sql.one(c, "pragma " + name, row -> row.result().getString(1)).orElseThrow());
  }

  @Test
  void commitIsSynchronous() {
    assertThat(pragma("journal_mode")).isEqualTo("wal");
    assertThat(pragma("synchronous")).isEqualTo("2");
  }

  @Test
  void secondOwnerIsRefusedWithThePidOfTheFirst() throws IOException, InterruptedException {
    String pid = Long.toString(ProcessHandle.current().pid());
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> Ledgers.open(LedgerConfig.sqlite(folder)))
        .withMessageContaining("pid " + pid)
        .withMessageContaining(folder.toRealPath().toString());

    // Also from another process, and after a refusal in this one.
    Process other =
        new ProcessBuilder(LedgerCrashChild.command("x", "honest", folder.toString()))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.PIPE)
            .start();
    String said = new String(other.getInputStream().readAllBytes(), UTF_8);
    assertThat(other.waitFor()).isNotZero();
    assertThat(said).contains("is in use by another Isola server, pid " + pid);
    ledger.settings().put("still", "ours", "yes");
  }

  @Test
  void closingReleasesTheFolder() {
    ledger.close();
    ledger.close();
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> ledger.settings().put("a", "b", "c"));
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> ledger.settings().get("a", "b"));
    ledger = Ledgers.open(LedgerConfig.sqlite(folder), Migrations.all());
    ledger.settings().put("a", "b", "c");
  }

  @Test
  void fullDiskIsReportedAndSurvived() {
    ledger.settings().put("a", "b", "c");
    String pages = pragma("page_count");
    pragma("max_page_count = " + pages);
    String much = "x".repeat(1 << 20);

    assertThatExceptionOfType(LimitExceeded.class)
        .isThrownBy(() -> ledger.settings().put("a", "big", much))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL));

    assertThat(ledger.settings().all("a")).containsOnlyKeys("b");
    pragma("max_page_count = 1000000");
    ledger.settings().put("a", "big", much);
    assertThat(ledger.settings().get("a", "big")).contains(much);
  }

  @Test
  void writePastItsDeadlineIsNeverPerformed() throws InterruptedException {
    reopenWithShortDeadline();
    CountDownLatch holding = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    AtomicReference<Throwable> holdersEnd = new AtomicReference<>();
    Thread holder =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    ledger.atomically(
                        parts -> {
                          parts.settings().put("a", "holder", "1");
                          holding.countDown();
                          return awaitQuietly(letGo);
                        });
                  } catch (RuntimeException e) {
                    holdersEnd.set(e);
                  }
                });
    holding.await();

    assertThatExceptionOfType(DeadlineExceeded.class)
        .isThrownBy(() -> ledger.settings().put("a", "late", "1"))
        .withMessageContaining("500 ms");
    holder.join();
    // The write had begun, so only the ledger knows its outcome.
    assertThat(holdersEnd.get()).isInstanceOf(OutcomeUnknown.class);
    letGo.countDown();
    ledger.settings().put("a", "after", "1");
    assertThat(ledger.settings().all("a")).containsOnlyKeys("after", "holder");
  }

  private static boolean awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void interruptedCallIsCancelled() {
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(DeadlineExceeded.class)
        .isThrownBy(() -> ledger.settings().put("a", "b", "c"))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void slowReadEndsAtItsDeadline() {
    reopenWithShortDeadline();
    String endless =
        "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n";
    assertThatExceptionOfType(DeadlineExceeded.class)
        .isThrownBy(
            () -> ledger.database().read(c -> Sql.list(c, endless, row -> row.number("x"))));
    assertThat(ledger.settings().get("a", "b")).isEmpty();
  }

  @Test
  void ledgerRejectsNestedUseInATransaction() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                ledger.atomically(
                    parts -> {
                      ledger.settings().put("a", "b", "c");
                      return true;
                    }));
  }

  @Test
  void expiryPoolAndListQueriesUseIndexes() {
    assertThat(plan("select * from sandbox where due_at <= 5 order by due_at limit 9"))
        .contains("sandbox_due");
    assertThat(
            plan(
                "select id from sandbox where pooled = 1 and state = 'RUNNING'"
                    + " and spec_hash = 'a' and provider = 'b' and tenant in ('', 'c')"
                    + " order by created_at, id limit 1"))
        .contains("sandbox_pool")
        .doesNotContain("TEMP B-TREE");
    SandboxQuery alive = SandboxQuery.of(EntryFilter.ALL.states(SandboxState.RUNNING), "", 10);
    assertThat(plan(alive.sql().replace("?", "1")))
        .contains("sandbox_not_destroyed")
        .doesNotContain("TEMP B-TREE");
    assertThat(plan(SandboxQuery.of(EntryFilter.ALL.tenant("a"), "", 10).sql().replace("?", "1")))
        .contains("sandbox_by_tenant")
        .doesNotContain("TEMP B-TREE");
  }

  private String plan(String sql) {
    List<String> steps =
        ledger
            .database()
            .read(c -> Sql.list(c, "explain query plan " + sql, row -> row.text("detail")));
    return String.join("\n", steps);
  }
}
