package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The base of the suites that run on both databases: a fresh ledger for each test. */
abstract class LedgerContract {
  static final Instant NOW = Instant.parse("2026-03-01T12:00:00.123456Z");

  final TestDatabase database;
  LedgerConfig config;
  Ledger ledger;

  LedgerContract(TestDatabase database) {
    this.database = database;
  }

  @BeforeEach
  void open() {
    config = database.fresh();
    ledger = Ledgers.open(config);
  }

  @AfterEach
  void remove() {
    ledger.close();
    database.remove(config);
  }

  /** Closes and reopens the ledger, as a restarted server does. */
  void reopen() {
    ledger.close();
    ledger = Ledgers.open(config);
  }

  static SandboxId id(String name) {
    return new SandboxId(name);
  }

  static SandboxEntry.Builder intent(String name) {
    return SandboxEntry.intent(
        id(name), "{\"id\":\"" + name + "\"}", "hash", "memory", Isolation.PROCESS, NOW);
  }

  /** Returns a stored sandbox in state {@code RUNNING}. */
  SandboxEntry running(String name, UnaryOperator<SandboxEntry.Builder> with) {
    return running(ledger, with.apply(intent(name)).build());
  }

  static SandboxEntry running(LedgerParts parts, SandboxEntry intent) {
    SandboxEntry stored = parts.sandboxes().insert(intent);
    return written(parts.sandboxes().update(stored.withState(SandboxState.RUNNING, NOW)));
  }

  /** Stores {@code count} running sandboxes, many per transaction. */
  List<SandboxEntry> manyRunning(
      String prefix, int count, UnaryOperator<SandboxEntry.Builder> with) {
    List<SandboxEntry> all = new ArrayList<>();
    for (int from = 0; from < count; from += 500) {
      int first = from;
      all.addAll(
          ledger.atomically(
              parts -> {
                List<SandboxEntry> some = new ArrayList<>();
                for (int i = first; i < Math.min(first + 500, count); i++) {
                  some.add(running(parts, with.apply(intent(prefix + i)).build()));
                }
                return some;
              }));
    }
    return all;
  }

  static SandboxEntry written(UpdateResult update) {
    assertThat(update).isInstanceOf(UpdateResult.Written.class);
    return ((UpdateResult.Written) update).entry();
  }

  static NewEvent event(String sandbox, String type) {
    return NewEvent.of(id(sandbox), type, "{}", NOW);
  }

  /** Runs the same task on several threads and returns the results. */
  static <T> List<T> inThreads(int count, Callable<T> work) throws InterruptedException {
    return together(java.util.Collections.nCopies(count, work));
  }

  /** Runs tasks concurrently on virtual threads, as the engine does. */
  static <T> List<T> together(List<Callable<T>> work) throws InterruptedException {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    try {
      List<Future<T>> futures = work.stream().map(threads::submit).toList();
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get(60, TimeUnit.SECONDS));
      }
      return results;
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError(e);
    } finally {
      threads.shutdownNow();
    }
  }
}
