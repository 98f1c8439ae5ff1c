package dev.isola.bench;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.MemoryForking;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Measures providers through the provider contract, and next to them the same work without Isola:
 *
 * <ul>
 *   <li>{@code create}: from no sandbox to the result of the first command, and destruction;
 *   <li>{@code warm}: claiming a sandbox from the engine's warm pool, compared with creating one;
 *   <li>{@code exec}: a command in a running sandbox, sequentially and with a concurrency of eight;
 *   <li>{@code files}: uploading and downloading a large file and a tree of small files;
 *   <li>{@code flood}: a large amount of command output;
 *   <li>{@code density}: the cost of many idle sandboxes;
 *   <li>{@code api}: commands, events and a large file over HTTP, compared with in-process calls;
 *   <li>{@code soak}: 64 HTTP clients for one minute;
 *   <li>{@code snapshot}: a full and an incremental snapshot of a tree, a restore, and ten forks;
 *   <li>{@code fork}: ten forks of a tree of small files, until each has run a command;
 *   <li>{@code fork-memory}: ten forks of a sandbox with a running interpreter;
 *   <li>{@code machine}: a command in a virtual machine, compared with the same inside of its
 *       guest;
 *   <li>{@code peer}: a command over HTTP in a sandbox of a server, compared with one whose server
 *       has its sandboxes from another server;
 *   <li>{@code egress}: connections and transfers of a sandbox in network mode {@code filtered},
 *       compared with the same without a sandbox.
 * </ul>
 */
public final class Bench {
  public static final List<String> BENCHMARKS =
      List.of(
          "create",
          "warm",
          "exec",
          "files",
          "flood",
          "density",
          "api",
          "soak",
          "snapshot",
          "fork",
          "fork-memory",
          "machine",
          "peer",
          "egress");
  public static final List<String> COMPARATORS =
      Stream.concat(
              Stream.of("raw", "processbuilder", "cp", "tar", "restic", "engine"),
              Peers.NAMES.stream())
          .toList();

  private static final int MEMORY_FORK_ROUNDS = 5;

  /** Receives each result as soon as it is available. */
  public interface Listener {
    void result(Result result);

    void density(Density density);

    void memoryForks(MemoryForks forks);
  }

  private final BenchPlan plan;
  private final Listener listener;

  public Bench(BenchPlan plan, Listener listener) {
    this.plan = plan;
    this.listener = listener;
  }

  /**
   * Runs the plan and removes everything it created.
   *
   * @throws IOException if this machine has no room for it
   */
  public Report run() throws IOException, InterruptedException {
    MachineReport machine = new MachineReport();
    List<Result> results = new ArrayList<>();
    List<Density> densities = new ArrayList<>();
    List<MemoryForks> memoryForks = new ArrayList<>();
    BenchEnvironment environment = BenchEnvironment.open(plan);
    try (environment) {
      for (String benchmark : plan.benchmarks()) {
        switch (benchmark) {
          case "density" -> densities.addAll(densities(environment));
          case "fork-memory" -> memoryForks.addAll(memoryForks(environment));
          default -> results.addAll(results(benchmark, environment));
        }
      }
    }
    Set<String> providers =
        environment.providers().stream().map(BenchProvider::name).collect(Collectors.toSet());
    return new Report(
        results,
        Comparison.of(results, providers),
        densities,
        memoryForks,
        environment.skipped(),
        machine.json(environment.versions()));
  }

  private List<Result> results(String benchmark, BenchEnvironment environment)
      throws IOException, InterruptedException {
    List<Result> results = new ArrayList<>();
    for (Benchmark event : benchmarks(benchmark, environment)) {
      List<Result> played = event.run(environment.skipped());
      played.forEach(listener::result);
      results.addAll(played);
    }
    return results;
  }

  private List<Density> densities(BenchEnvironment environment) {
    List<Density> densities = new ArrayList<>();
    for (BenchProvider benchProvider : environment.providers()) {
      try {
        Density density = new DensityRun(benchProvider, plan.sizes().sandboxes()).run();
        listener.density(density);
        densities.add(density);
      } catch (IOException | RuntimeException e) {
        environment
            .skipped()
            .add(new SkippedSubject(benchProvider.name(), "failed in density: " + e.getMessage()));
      }
    }
    return densities;
  }

  private List<MemoryForks> memoryForks(BenchEnvironment environment) throws InterruptedException {
    List<MemoryForks> all = new ArrayList<>();
    for (BenchProvider benchProvider : environment.providers()) {
      if (!benchProvider.provider().info().capabilities().contains(MemoryForking.class)) {
        environment
            .skipped()
            .add(
                new SkippedSubject(
                    benchProvider.name(),
                    "cannot run "
                        + MemoryForks.BENCHMARK
                        + ": the provider does not declare "
                        + Capability.idOf(MemoryForking.class)
                        + " on this machine"));
        continue;
      }
      try {
        MemoryForks forks =
            new MemoryForkRun(
                    benchProvider, plan.n().orElse(MEMORY_FORK_ROUNDS), MemoryForkRun.HELD_BYTES)
                .run();
        listener.memoryForks(forks);
        all.add(forks);
      } catch (IOException | RuntimeException e) {
        environment
            .skipped()
            .add(
                new SkippedSubject(
                    benchProvider.name(),
                    "failed in " + MemoryForks.BENCHMARK + ": " + e.getMessage()));
      }
    }
    return all;
  }

  private List<Benchmark> benchmarks(String benchmark, BenchEnvironment environment)
      throws IOException, InterruptedException {
    return switch (benchmark) {
      case "create" -> CreateBenchmarks.of(environment, plan);
      case "warm" -> WarmBenchmarks.of(environment, plan);
      case "exec" -> ExecBenchmarks.of(environment, plan);
      case "files" -> {
        List<Benchmark> events = new ArrayList<>(FileBenchmarks.of(environment, plan));
        events.addAll(TreeBenchmarks.of(environment, plan));
        yield events;
      }
      case "flood" -> FloodBenchmarks.of(environment, plan);
      case "api" -> ApiBenchmarks.of(environment, plan);
      case "soak" -> SoakBenchmark.of(environment, plan);
      case "snapshot" -> SnapshotBenchmarks.of(environment, plan);
      case "fork" -> SnapshotBenchmarks.forks(environment, plan);
      case "machine" -> MachineBenchmarks.of(environment, plan);
      case "peer" -> PeerBenchmarks.of(environment, plan);
      case "egress" -> EgressBenchmarks.of(environment, plan);
      default -> throw new IllegalArgumentException("unknown benchmark " + benchmark);
    };
  }
}
