package dev.isola.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Measures providers through the contract, and beside them what the same work costs without:
 *
 * <ul>
 *   <li>{@code create}: from nothing to the first command's result, and what destroying takes;
 *   <li>{@code warm}: from an order to a sandbox that the engine's pool had ready, beside making
 *       one;
 *   <li>{@code exec}: a command in a running sandbox, one at a time and eight at once;
 *   <li>{@code files}: a large file in and out, a tree of small ones in and out;
 *   <li>{@code flood}: a command's output;
 *   <li>{@code density}: what many sandboxes cost that are there at once;
 *   <li>{@code api}: commands, events and a large file over HTTP, beside the same in this process;
 *   <li>{@code soak}: 64 clients over HTTP for a minute;
 *   <li>{@code snapshot}: all of a tree, what changed of it, the tree restored, ten forks of it.
 *   <li>{@code fork}: ten forks of a tree of small files, until each has answered.
 * </ul>
 */
public final class Bench {
  public static final List<String> BENCHMARKS =
      List.of(
          "create", "warm", "exec", "files", "flood", "density", "api", "soak", "snapshot", "fork");
  public static final List<String> COMPARATORS =
      Stream.concat(
              Stream.of("raw", "processbuilder", "cp", "tar", "restic", "engine"),
              Peers.NAMES.stream())
          .toList();

  /** Is told what came out as soon as it is there. */
  public interface Listener {
    void result(Result result);

    void density(Density density);
  }

  private final BenchPlan plan;
  private final Listener listener;

  public Bench(BenchPlan plan, Listener listener) {
    this.plan = plan;
    this.listener = listener;
  }

  /**
   * Runs the plan; nothing is left of it afterwards.
   *
   * @throws IOException when this machine has no room for it
   */
  public Report run() throws IOException, InterruptedException {
    MachineReport machine = new MachineReport();
    List<Result> results = new ArrayList<>();
    List<Density> densities = new ArrayList<>();
    BenchEnvironment arena = BenchEnvironment.open(plan);
    try (arena) {
      for (String benchmark : plan.benchmarks()) {
        if (benchmark.equals("density")) {
          densities.addAll(densities(arena));
        } else {
          results.addAll(results(benchmark, arena));
        }
      }
    }
    Set<String> providers =
        arena.providers().stream().map(BenchProvider::name).collect(Collectors.toSet());
    return new Report(
        results,
        Comparison.of(results, providers),
        densities,
        arena.skipped(),
        machine.json(arena.versions()));
  }

  private List<Result> results(String benchmark, BenchEnvironment arena)
      throws IOException, InterruptedException {
    List<Result> results = new ArrayList<>();
    for (Benchmark event : benchmarks(benchmark, arena)) {
      List<Result> played = event.run(arena.skipped());
      played.forEach(listener::result);
      results.addAll(played);
    }
    return results;
  }

  private List<Density> densities(BenchEnvironment arena) {
    List<Density> densities = new ArrayList<>();
    for (BenchProvider entrant : arena.providers()) {
      try {
        Density density = new DensityRun(entrant, plan.sizes().sandboxes()).run();
        listener.density(density);
        densities.add(density);
      } catch (IOException | RuntimeException e) {
        arena
            .skipped()
            .add(new SkippedSubject(entrant.name(), "failed in density: " + e.getMessage()));
      }
    }
    return densities;
  }

  private List<Benchmark> benchmarks(String benchmark, BenchEnvironment arena)
      throws IOException, InterruptedException {
    return switch (benchmark) {
      case "create" -> CreateBenchmarks.of(arena, plan);
      case "warm" -> WarmBenchmarks.of(arena, plan);
      case "exec" -> ExecBenchmarks.of(arena, plan);
      case "files" -> {
        List<Benchmark> events = new ArrayList<>(FileBenchmarks.of(arena, plan));
        events.addAll(TreeBenchmarks.of(arena, plan));
        yield events;
      }
      case "flood" -> FloodBenchmarks.of(arena, plan);
      case "api" -> ApiBenchmarks.of(arena, plan);
      case "soak" -> SoakBenchmark.of(arena, plan);
      case "snapshot" -> SnapshotBenchmarks.of(arena, plan);
      case "fork" -> SnapshotBenchmarks.forks(arena, plan);
      default -> throw new IllegalArgumentException("no benchmark is named " + benchmark);
    };
  }
}
