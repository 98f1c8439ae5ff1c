package dev.isola.bench;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Something that does the work of one benchmark.
 *
 * @param pace one of so many iterations is enough: who takes a hundred times as long as others need
 *     not do it as often
 * @param volume what its last iteration read and stored, where that is known
 */
record Contestant(String name, Work work, int pace, Supplier<Optional<Volume>> volume) {
  /** However slow somebody is, fewer iterations than this say nothing. */
  private static final int FEWEST = 20;

  Contestant(String name, Work work) {
    this(name, work, 1, Optional::empty);
  }

  /** Returns how often it does what others do {@code n} times. */
  int share(int n) {
    return Math.min(n, Math.max(FEWEST, n / pace));
  }

  Contestant paced(int slower) {
    return new Contestant(name, work, slower, volume);
  }

  /** Makes one that tells what it read and stored. */
  Contestant telling(Supplier<Optional<Volume>> last) {
    return new Contestant(name, work, pace, last);
  }

  /** Does it {@code n} times, {@code concurrency} at once, and tells how long each took. */
  @FunctionalInterface
  interface Work {
    Samples run(int n, int concurrency) throws IOException, InterruptedException;
  }

  /** Does it once. */
  @FunctionalInterface
  interface Once {
    void run() throws IOException, InterruptedException;
  }

  /** Makes a contestant of one that is timed here, in virtual threads as servers use it. */
  static Contestant timed(String name, Once once) {
    return new Contestant(name, (n, concurrency) -> Parallel.run(once, n, concurrency));
  }

  /** Makes a contestant that cleans up after each iteration; only the work is timed. */
  static Contestant timed(String name, Once once, Once after) {
    return new Contestant(
        name,
        (n, concurrency) -> {
          Samples samples = Samples.NONE;
          for (int i = 0; i < n; i++) {
            try {
              samples = samples.and(Parallel.run(once, 1, 1));
            } finally {
              after.run();
            }
          }
          return samples;
        });
  }
}
