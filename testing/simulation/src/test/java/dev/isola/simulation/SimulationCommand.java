package dev.isola.simulation;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.time.Duration;
import java.util.Locale;

/**
 * Runs one simulation and prints its report: {@code SERVERS SANDBOXES [SEED]}. Exits with 1 if an
 * invariant did not hold.
 */
final class SimulationCommand {
  private SimulationCommand() {}

  public static void main(String[] arguments) {
    if (arguments.length < 2 || arguments.length > 3) {
      System.err.println("usage: SERVERS SANDBOXES [SEED]");
      System.exit(2);
    }
    Scenario scenario =
        new Scenario(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
    if (arguments.length == 3) {
      scenario = scenario.withSeed(Long.parseLong(arguments[2]));
    }
    World world = new World(scenario);
    long start = System.nanoTime();
    world.run();
    Duration time = Duration.ofNanos(System.nanoTime() - start);
    report(world, time);
    System.exit(world.monitor.violations().isEmpty() ? 0 : 1);
  }

  private static void report(World world, Duration time) {
    Monitor monitor = world.monitor;
    line("servers", world.scenario.servers());
    line("create requests", world.scenario.sandboxes());
    line("acknowledged", monitor.acknowledged);
    line("requests answered with an error", monitor.rejected);
    line("alive at the same time", monitor.peak);
    line("recorded as lost, with a cause", monitor.markedLost);
    line("stale actions that agents refused", monitor.staleActions);
    line("requests without an answer for a minute", monitor.unavailable);
    line("virtual time, minutes", world.scenario.end() / Timeline.MINUTE);
    line("events", world.timeline.processed());
    line("run time, seconds", time.toSeconds());
    line("largest heap, MB", peakHeap() >> 20);
    line("sandboxes taken over", monitor.takeOvers);
    print(
        "%-40s %.1f s / %.1f s%n",
        "from crash to takeover, median and p99",
        world.recoveryTimes.seconds(0.5),
        world.recoveryTimes.seconds(0.99));
    line("round trips to the database", world.roundTrips.total());
    print("%n%-40s %12s %12s%n", "operation", "number", "round trips");
    for (Operation operation : Operation.values()) {
      print(
          "%-40s %12d %12.2f%n",
          operation.label,
          world.roundTrips.operations(operation),
          world.roundTrips.perOperation(operation));
    }
    print("%nviolations: %s%n", monitor.counts());
    monitor.violations().forEach(System.out::println);
  }

  private static void line(String label, long value) {
    print("%-40s %d%n", label, value);
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation is in a library of its own
  private static void print(String format, Object... values) {
    System.out.printf(Locale.ROOT, format, values);
  }

  private static long peakHeap() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getPeakUsage)
        .mapToLong(usage -> usage.getUsed())
        .sum();
  }
}
