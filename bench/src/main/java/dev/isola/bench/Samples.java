package dev.isola.bench;

import java.util.Arrays;

/**
 * The durations of iterations.
 *
 * @param wallNanos the elapsed time of all iterations together, at any concurrency
 * @param cleanup the durations of the cleanups, if measured; not included in the others
 */
record Samples(Nanos each, long wallNanos, Nanos cleanup) {
  private static final Nanos NOTHING = new Nanos();
  static final Samples NONE = new Samples(NOTHING, 0, NOTHING);

  /** Durations in ascending order. */
  static final class Nanos {
    private final long[] sorted;

    Nanos(long... times) {
      sorted = times.clone();
      Arrays.sort(sorted);
    }

    int count() {
      return sorted.length;
    }

    private long sum() {
      return Arrays.stream(sorted).sum();
    }

    private Nanos and(Nanos more) {
      long[] all = Arrays.copyOf(sorted, sorted.length + more.sorted.length);
      System.arraycopy(more.sorted, 0, all, sorted.length, more.sorted.length);
      return new Nanos(all);
    }
  }

  static Samples of(long wallNanos, long... nanos) {
    return new Samples(new Nanos(nanos), wallNanos, NOTHING);
  }

  Samples withAfter(long... nanos) {
    return new Samples(each, wallNanos, new Nanos(nanos));
  }

  Samples plus(Samples more) {
    return new Samples(each.and(more.each), wallNanos + more.wallNanos, cleanup.and(more.cleanup));
  }

  /** Returns the durations of the cleanups as samples of their own, at a concurrency of one. */
  Samples cleanupSamples() {
    return new Samples(cleanup, cleanup.sum(), NOTHING);
  }

  int count() {
    return each.count();
  }

  /** Returns the median: the middle value, or the mean of the two middle values. */
  double medianMs() {
    int n = count();
    if (n == 0) {
      throw new IllegalStateException("nothing was measured");
    }
    long low = each.sorted[(n - 1) / 2];
    long high = each.sorted[n / 2];
    return (low + high) / 2.0 / 1e6;
  }

  double p90Ms() {
    return percentileMs(90);
  }

  double p99Ms() {
    return percentileMs(99);
  }

  double slowestMs() {
    return percentileMs(100);
  }

  /** Returns the percentile by the nearest-rank method. */
  private double percentileMs(int percent) {
    int n = count();
    if (n == 0) {
      throw new IllegalStateException("nothing was measured");
    }
    int rank = (percent * n + 99) / 100;
    return each.sorted[rank - 1] / 1e6;
  }

  /** Returns the amount of work per second, with {@code work} per iteration. */
  double perSecond(double work) {
    return wallNanos == 0 ? 0 : work * count() * 1e9 / wallNanos;
  }
}
