package dev.isola.engine.metrics;

import dev.isola.engine.api.DurationPercentiles;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The latest durations of an operation: at most {@value #SIZE}, of the last ten minutes. Adding one
 * takes no lock.
 */
public final class DurationWindow {
  private static final int SIZE = 1024;
  private static final long MAX_AGE = Duration.ofMinutes(10).toNanos();
  private static final double MS = 1e6;

  private final LongSupplier nanoTime;
  private final AtomicLong added = new AtomicLong();
  private final AtomicLongArray durations = new AtomicLongArray(SIZE);
  private final AtomicLongArray times = new AtomicLongArray(SIZE);

  DurationWindow(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  void add(long nanos) {
    int slot = (int) (added.getAndIncrement() % SIZE);
    durations.set(slot, nanos);
    times.set(slot, nanoTime.getAsLong());
  }

  /** Returns the percentiles; empty if nothing was added recently. */
  public Optional<DurationPercentiles> percentiles() {
    long now = nanoTime.getAsLong();
    int filled = (int) Math.min(SIZE, added.get());
    long[] recent =
        IntStream.range(0, filled)
            .filter(slot -> now - times.get(slot) <= MAX_AGE)
            .mapToLong(durations::get)
            .toArray();
    if (recent.length == 0) {
      return Optional.empty();
    }
    Arrays.sort(recent);
    return Optional.of(
        new DurationPercentiles(at(recent, 0.50), at(recent, 0.95), at(recent, 0.99)));
  }

  /** Returns the smallest value that is not less than this share of all values. */
  private static double at(long[] sorted, double share) {
    int index = (int) Math.ceil(share * sorted.length) - 1;
    return sorted[Math.max(0, index)] / MS;
  }
}
