package dev.isola.simulation;

import java.util.Arrays;

/** How long sandboxes of crashed servers had no owner. */
final class RecoveryTimes {
  private long[] times = new long[1024];
  private int count;

  void add(long time) {
    if (count == times.length) {
      times = Arrays.copyOf(times, 2 * count);
    }
    times[count++] = time;
  }

  int count() {
    return count;
  }

  /** Returns a quantile in seconds. */
  double seconds(double quantile) {
    if (count == 0) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(times, count);
    Arrays.sort(sorted);
    int at = (int) Math.min(count - 1L, (long) Math.ceil(quantile * count));
    return sorted[at] / (double) Timeline.SECOND;
  }
}
