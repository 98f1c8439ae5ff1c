package dev.isola.bench;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A subject of one benchmark.
 *
 * @param pace the divisor of the iteration count: a subject that is a hundred times slower than
 *     others runs fewer iterations
 * @param bytesMoved the bytes that the last iteration read and stored, if known
 */
record BenchSubject(String name, Work work, int pace, Supplier<Optional<BytesMoved>> bytesMoved) {
  /** The minimum number of iterations for a meaningful result, however slow the subject is. */
  private static final int MIN_ITERATIONS = 20;

  BenchSubject(String name, Work work) {
    this(name, work, 1, Optional::empty);
  }

  /** Returns the number of iterations of this subject when others run {@code n}. */
  int iterations(int n) {
    return Math.min(n, Math.max(MIN_ITERATIONS, n / pace));
  }

  BenchSubject withPace(int slower) {
    return new BenchSubject(name, work, slower, bytesMoved);
  }

  /** Returns a subject that also reports the bytes it read and stored. */
  BenchSubject reportingBytes(Supplier<Optional<BytesMoved>> last) {
    return new BenchSubject(name, work, pace, last);
  }

  /** Runs {@code n} iterations with the given concurrency and returns their durations. */
  @FunctionalInterface
  interface Work {
    Samples run(int n, int concurrency) throws IOException, InterruptedException;
  }

  /** Runs one iteration. */
  @FunctionalInterface
  interface Iteration {
    void run() throws IOException, InterruptedException;
  }

  /** Returns a subject that is timed here, on virtual threads as in a server. */
  static BenchSubject timed(String name, Iteration once) {
    return new BenchSubject(name, (n, concurrency) -> Parallel.run(once, n, concurrency));
  }

  /** Returns a subject that cleans up after each iteration; the cleanup is timed separately. */
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
