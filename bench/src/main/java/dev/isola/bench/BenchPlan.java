package dev.isola.bench;

import dev.isola.spi.provider.ProviderFactory;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What to measure.
 *
 * @param benchmarks of {@link Bench#BENCHMARKS}
 * @param against of {@link Bench#COMPARATORS}
 * @param n iterations; each benchmark's own default when empty
 * @param sizes how much of it
 * @param engines where the engines are that take part
 */
public record BenchPlan(
    List<String> benchmarks,
    List<ProviderFactory> providers,
    Set<String> against,
    OptionalInt n,
    Sizes sizes,
    Engines engines) {

  /**
   * How much there is to do; less where a test is in a hurry.
   *
   * @param bytes of a file or an output
   * @param files of a tree
   * @param sandboxes alive at once
   */
  public record Sizes(long bytes, int files, int sandboxes) {
    public static final Sizes DEFAULT = new Sizes(1L << 30, 10_000, 200);

    public Sizes withSandboxes(int count) {
      return new Sizes(bytes, files, count);
    }
  }

  /**
   * The container engines beside us.
   *
   * @param docker where Docker's engine listens, as in {@code DOCKER_HOST}
   * @param image what containers are made from; it has to be there already and to have {@code true}
   *     and {@code sleep}
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
