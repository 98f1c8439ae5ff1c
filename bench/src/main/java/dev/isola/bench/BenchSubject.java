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
record BenchSubject(String name, Work work, int pace, Supplier<Optional<BytesMoved>> bytesMoved) {
  /** However slow somebody is, fewer iterations than this say nothing. */
  private static final int FEWEST = 20;

  BenchSubject(String name, Work work) {
    this(name, work, 1, Optional::empty);
  }

  /** Returns how often it does what others do {@code n} times. */
  int iterations(int n) {
    return Math.min(n, Math.max(FEWEST, n / pace));
  }

  BenchSubject withPace(int slower) {
    return new BenchSubject(name, work, slower, bytesMoved);
  }

  /** Makes one that tells what it read and stored. */
  BenchSubject reportingBytes(Supplier<Optional<BytesMoved>> last) {
    return new BenchSubject(name, work, pace, last);
  }

  /** Does it {@code n} times, {@code concurrency} at once, and tells how long each took. */
  @FunctionalInterface
  interface Work {
    Samples run(int n, int concurrency) throws IOException, InterruptedException;
  }

  /** Does it once. */
  @FunctionalInterface
  interface Iteration {
    void run() throws IOException, InterruptedException;
  }

  /** Makes a contestant of one that is timed here, in virtual threads as servers use it. */
  static BenchSubject timed(String name, Iteration once) {
    return new BenchSubject(name, (n, concurrency) -> Parallel.run(once, n, concurrency));
  }

  /** Makes a contestant that cleans up after each iteration; only the work is timed. */
  static BenchSubject timed(String name, Iteration once, Iteration after) {
    return new BenchSubject(
        name,
        (n, concurrency) -> {
          Samples samples = Samples.NONE;
          for (int i = 0; i < n; i++) {
            try {
              samples = samples.plus(Parallel.run(once, 1, 1));
            } finally {
              after.run();
            }
          }
          return samples;
        });
  }
}
