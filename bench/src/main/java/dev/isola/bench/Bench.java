package dev.isola.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures providers through the contract, and beside them what the same work costs without:
 *
 * <ul>
 *   <li>{@code exec}: a command in a running sandbox, one at a time and eight at once;
 *   <li>{@code files}: a large file in and out, a tree of small ones in and out;
 *   <li>{@code flood}: a command's output.
 * </ul>
 */
public final class Bench {
  public static final List<String> BENCHMARKS = List.of("exec", "files", "flood");
  public static final List<String> COMPARATORS = List.of("raw", "processbuilder", "cp", "tar");

  private final Plan plan;
  private final Consumer<Result> listener;

  /**
   * @param listener is told each result as soon as it is there
   */
  public Bench(Plan plan, Consumer<Result> listener) {
    this.plan = plan;
    this.listener = listener;
  }

  /**
   * Runs the plan; nothing is left of it afterwards.
   *
   * @throws IOException when this machine has no room for it
   */
  public Report run() throws IOException, InterruptedException {
    Machine machine = new Machine();
    List<Result> results = new ArrayList<>();
    try (Arena arena = Arena.open(plan)) {
      for (String benchmark : plan.benchmarks()) {
        for (Event event : events(benchmark, arena)) {
          List<Result> played = event.play(arena.absent());
          played.forEach(listener);
          results.addAll(played);
        }
      }
      return new Report(results, arena.absent(), machine.json());
    }
  }

  private List<Event> events(String benchmark, Arena arena) throws IOException {
    return switch (benchmark) {
      case "exec" -> ExecEvents.of(arena, plan);
      case "files" -> {
        List<Event> events = new ArrayList<>(FileEvents.of(arena, plan));
        events.addAll(TreeEvents.of(arena, plan));
        yield events;
      }
      case "flood" -> FloodEvents.of(arena, plan);
      default -> throw new IllegalArgumentException("no benchmark is named " + benchmark);
    };
  }
}
