package dev.isola.engine.api.statistics;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.EngineSample;
import dev.isola.engine.api.HealthChange;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.metrics.StatisticsRecorder;
import dev.isola.spi.SandboxState;
import dev.isola.store.EntryCount;
import dev.isola.store.SandboxEntries;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Samples the state of an engine, once for all clients. The ledger is read every {@link #INTERVAL}
 * while a client follows the samples, and every {@link #HISTORY_INTERVAL} otherwise.
 */
public final class StatisticsSampler {
  /** How often {@link #sample} is called. */
  public static final Duration INTERVAL = Duration.ofSeconds(2);

  /** The time between two samples of the history. */
  public static final Duration HISTORY_INTERVAL = Duration.ofSeconds(10);

  private static final Duration SOON = Duration.ofMinutes(10);
  private static final int MAX_HISTORY = 360;
  private static final long TICKS_PER_HISTORY_SAMPLE = HISTORY_INTERVAL.dividedBy(INTERVAL);
  private static final int TICKS_PER_MINUTE = 30;

  /** Where the values come from. */
  public record Sources(
      SandboxEntries sandboxes,
      StatisticsRecorder statistics,
      IntSupplier poolSize,
      Supplier<CapacityUsage> capacity,
      Supplier<List<ProviderStatus>> providers) {}

  /**
   * The samples of the last hour, and the changes of the health of each provider.
   *
   * @param lastNumber the number of the latest sample, which may not be one of these
   */
  public record History(
      List<EngineSample> samples, Map<String, List<HealthChange>> health, long lastNumber) {}

  /** A client that follows the samples. */
  public interface Subscription extends AutoCloseable {
    @Override
    void close();
  }

  private record Tick(long nanos, StatisticsRecorder.Totals totals) {}

  private final Sources sources;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition sampled = lock.newCondition();
  private final Deque<EngineSample> history = new ArrayDeque<>();
  private final HealthHistory health = new HealthHistory();
  private final Deque<Tick> ticks = new ArrayDeque<>();
  private @Nullable EngineSample latest;
  private long ticked;
  private long number;
  private int subscriptions;

  public StatisticsSampler(Sources sources, InstantSource clock, LongSupplier nanoTime) {
    this.sources = sources;
    this.clock = clock;
    this.nanoTime = nanoTime;
    ticks.add(tick());
  }

  private Tick tick() {
    return new Tick(nanoTime.getAsLong(), sources.statistics().totals());
  }

  /** Takes a sample if one is due. Called every {@link #INTERVAL} by one thread. */
  public void sample() {
    List<ProviderStatus> providers = sources.providers().get();
    Tick now = tick();
    boolean forHistory;
    Tick minuteAgo;
    Tick before;
    lock.lock();
    try {
      health.record(providers);
      before = ticks.getLast();
      ticks.add(now);
      if (ticks.size() > TICKS_PER_MINUTE + 1) {
        ticks.removeFirst();
      }
      minuteAgo = ticks.getFirst();
      forHistory = ticked++ % TICKS_PER_HISTORY_SAMPLE == 0;
      if (!forHistory && subscriptions == 0) {
        return;
      }
    } finally {
      lock.unlock();
    }
    EngineSample sample = read(providers, now, before, minuteAgo); // not under the lock
    lock.lock();
    try {
      latest = sample;
      if (forHistory) {
        history.add(sample);
        if (history.size() > MAX_HISTORY) {
          history.removeFirst();
        }
      }
      sampled.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private EngineSample read(List<ProviderStatus> providers, Tick now, Tick before, Tick minuteAgo) {
    Map<SandboxState, Long> sandboxes = new EnumMap<>(SandboxState.class);
    long warm = 0;
    for (EntryCount count : sources.sandboxes().countByState()) {
      if (!count.pooled()) {
        sandboxes.merge(count.state(), count.count(), Long::sum);
      } else if (count.state() == SandboxState.RUNNING) {
        warm += count.count();
      }
    }
    double seconds = Math.max(1, now.nanos() - before.nanos()) / 1e9;
    long requests = now.totals().httpRequests() - before.totals().httpRequests();
    return new EngineSample(
        ++number,
        clock.instant(),
        sandboxes,
        sources.sandboxes().countExpiring(clock.instant().plus(SOON)),
        warm,
        sources.poolSize().getAsInt(),
        now.totals().creates() - minuteAgo.totals().creates(),
        sources.statistics().createDurations().percentiles(),
        sources.statistics().executionDurations().percentiles(),
        now.totals().fallbacks(),
        now.totals().egressDenials(),
        requests / seconds,
        providers,
        sources.capacity().get());
  }

  /** Makes samples more frequent until the result is closed. */
  public Subscription subscribe() {
    add(1);
    return () -> add(-1);
  }

  private void add(int change) {
    lock.lock();
    try {
      subscriptions += change;
    } finally {
      lock.unlock();
    }
  }

  public History history() {
    lock.lock();
    try {
      health.record(sources.providers().get());
      return new History(
          List.copyOf(history), health.changes(), latest == null ? 0 : latest.number());
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a sample after the one with this number; empty if there is none in time. */
  public Optional<EngineSample> await(long after, Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      long left = timeout.toNanos();
      while (latest == null || latest.number() <= after) {
        if (left <= 0) {
          return Optional.empty();
        }
        left = sampled.awaitNanos(left);
      }
      return Optional.of(latest);
    } finally {
      lock.unlock();
    }
  }
}
