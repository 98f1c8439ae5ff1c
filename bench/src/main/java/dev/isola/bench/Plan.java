package dev.isola.bench;

import dev.isola.spi.ProviderFactory;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What to measure.
 *
 * @param benchmarks of {@link Bench#BENCHMARKS}
 * @param against of {@link Bench#COMPARATORS}
 * @param n iterations; each benchmark's own default when empty
 * @param size how much a file or an output has; a gibibyte unless a test is in a hurry
 * @param files how many a tree has
 */
public record Plan(
    List<String> benchmarks,
    List<ProviderFactory> providers,
    Set<String> against,
    OptionalInt n,
    long size,
    int files) {
  public static final long SIZE = 1L << 30;
  public static final int FILES = 10_000;

  public Plan {
    benchmarks = List.copyOf(benchmarks);
    providers = List.copyOf(providers);
    against = Set.copyOf(against);
  }
}
