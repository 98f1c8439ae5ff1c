package dev.isola.bench;

import java.util.Arrays;

/**
 * How long each iteration took.
 *
 * @param wallNanos how long all of them took together, however many went on at once
 * @param after how long it took to clean up after each, where somebody wants to know; not part of
 *     the others
 */
record Samples(Nanos each, long wallNanos, Nanos cleanup) {
  private static final Nanos NOTHING = new Nanos();
  static final Samples NONE = new Samples(NOTHING, 0, NOTHING);

  /** The times, in order of size. */
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

  /** Returns what cleaning up took as samples of their own, one at a time. */
  Samples cleanupSamples() {
    return new Samples(cleanup, cleanup.sum(), NOTHING);
  }

  int count() {
    return each.count();
  }

  /** Returns the middle one, or the mean of the two in the middle. */
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

  /** Returns the smallest that at least so many of 100 do not exceed. */
  private double percentileMs(int percent) {
    int n = count();
    if (n == 0) {
      throw new IllegalStateException("nothing was measured");
    }
    int rank = (percent * n + 99) / 100;
    return each.sorted[rank - 1] / 1e6;
  }

  /** Returns how much was done in a second, each iteration being {@code work}. */
  double perSecond(double work) {
    return wallNanos == 0 ? 0 : work * count() * 1e9 / wallNanos;
  }
}
