package dev.isola.bench;

import dev.isola.spi.provider.ProviderFactory;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What to measure.
 *
 * @param benchmarks a selection of {@link Bench#BENCHMARKS}
 * @param against a selection of {@link Bench#COMPARATORS}
 * @param n the number of iterations; the default of each benchmark if empty
 * @param sizes the size of the workload
 * @param engines the container engines to compare with
 */
public record BenchPlan(
    List<String> benchmarks,
    List<ProviderFactory> providers,
    Set<String> against,
    OptionalInt n,
    Sizes sizes,
    Engines engines) {

  /**
   * The size of the workload; tests use a small one.
   *
   * @param bytes the size of a file or an output
   * @param files the number of files of a tree
   * @param sandboxes the number of sandboxes alive at once
   */
  public record Sizes(long bytes, int files, int sandboxes) {
    public static final Sizes DEFAULT = new Sizes(1L << 30, 10_000, 200);

    public Sizes withSandboxes(int count) {
      return new Sizes(bytes, files, count);
    }
  }

  /**
   * The container engines to compare with.
   *
   * @param docker the address of Docker's engine, as in {@code DOCKER_HOST}
   * @param image the image of containers; the engine must already have it, and it must contain
   *     {@code true} and {@code sleep}
   */
  public record Engines(String docker, String image) {
    public static final String DOCKER = "unix:///var/run/docker.sock";
    public static final Engines DEFAULT = new Engines(DOCKER, "busybox");
  }

  public BenchPlan {
    benchmarks = List.copyOf(benchmarks);
    providers = List.copyOf(providers);
    against = Set.copyOf(against);
  }
}
