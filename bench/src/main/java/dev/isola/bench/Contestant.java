package dev.isola.bench;

import java.io.IOException;

/** Something that does the work of one benchmark. */
record Contestant(String name, Work work) {

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
