package dev.isola.bench.command;

import dev.isola.app.cli.Console;
import dev.isola.bench.Bench;
import dev.isola.bench.Comparison;
import dev.isola.bench.Density;
import dev.isola.bench.MemoryForks;
import dev.isola.bench.Report;
import dev.isola.bench.Result;
import dev.isola.bench.SkippedSubject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Prints the results of {@code isola bench}: rows as they arrive, or one JSON object at the end.
 */
final class BenchReport implements Bench.Listener {
  private static final double MEGABYTE = 1 << 20;

  private final Console console;
  private boolean results;
  private boolean densities;

  BenchReport(Console console) {
    this.console = console;
  }

  @Override
  public void result(Result result) {
    if (console.json()) {
      return;
    }
    if (!results) {
      results = true;
      console.print(
          row("BENCHMARK", "SUBJECT", "AT ONCE", "N", "MEDIAN", "P90", "P99", "RATE", "RATIO"));
    }
    console.print(
        row(
            result.benchmark(),
            result.subject(),
            Integer.toString(result.concurrency()),
            Integer.toString(result.n()),
            ms(result.medianMs()),
            ms(result.p90Ms()),
            ms(result.p99Ms()),
            rate(result),
            result.ratio().isPresent()
                ? String.format(Locale.ROOT, "%.2f", result.ratio().getAsDouble())
                : "-"));
    result
        .bytesMoved()
        .ifPresent(
            moved ->
                console.print(
                    "           stored "
                        + megabytes(moved.storedBytes())
                        + (moved.readBytes().isPresent()
                            ? ", read " + megabytes(moved.readBytes().getAsLong())
                            : "")
                        + "\n"));
  }

  @Override
  public void density(Density density) {
    if (console.json()) {
      return;
    }
    if (!densities) {
      densities = true;
      console.print(
          densityRow(
              "DENSITY",
              "ALIVE",
              "ANSWER",
              "PROCESSES",
              "PRIVATE",
              "MOST",
              "CHARGED",
              "SERVER",
              "HEAP",
              "CREATE",
              "DESTROY"));
    }
    console.print(
        densityRow(
            density.subject(),
            Integer.toString(density.count()),
            Integer.toString(density.answered()),
            String.format(Locale.ROOT, "%.0f", density.processes()),
            megabytes(density.privateBytes()),
            megabytes(density.privateBytesMost()),
            density.chargedBytes().isPresent()
                ? megabytes(density.chargedBytes().getAsLong())
                : "-",
            megabytes(density.serverBytes()),
            megabytes(density.heapBytes()),
            ms(density.createMs()),
            ms(density.destroyMs())));
    for (String left : density.left()) {
      console.print("remaining of " + density.subject() + ": " + left + "\n");
    }
  }

  @Override
  public void memoryForks(MemoryForks forks) {
    if (console.json()) {
      return;
    }
    console.print(
        String.format(
            Locale.ROOT,
            "%s %s: %d forks of %s, %d times: first command answered after %s (median), %s"
                + " (slowest); source frozen for %s (median); memory of a fork %s; %d of %d"
                + " answered, %d continued%n",
            MemoryForks.BENCHMARK,
            forks.subject(),
            forks.forks(),
            megabytes(forks.heldBytes()),
            forks.n(),
            ms(forks.medianMs()),
            ms(forks.slowestMs()),
            ms(forks.frozenMs()),
            forks.chargedBytes().isPresent()
                ? megabytes(forks.chargedBytes().getAsLong()) + " (control group, median)"
                : "not measured",
            forks.answered(),
            forks.n() * forks.forks(),
            forks.continued()));
    console.print("published by others, not measured here, on other machines and workloads:\n");
    MemoryForks.PUBLISHED.forEach(line -> console.print("  " + line + "\n"));
  }

  /** Prints the remainder: comparisons, skipped subjects and the machine. */
  void end(Report report) {
    if (console.json()) {
      console.print(report.json());
      return;
    }
    comparisons(report.comparisons()).forEach(console::print);
    for (SkippedSubject one : report.skipped()) {
      console.print("NOT RUN: " + one.subject() + ": " + one.reason() + "\n");
    }
    console.print(machine(report.machine()));
  }

  private static List<String> comparisons(List<Comparison> comparisons) {
    Map<String, StringJoiner> lines = new LinkedHashMap<>();
    for (Comparison comparison : comparisons) {
      String line =
          comparison.benchmark()
              + (comparison.concurrency() > 1 ? ", " + comparison.concurrency() + " at once" : "")
              + ": "
              + comparison.subject()
              + " is ";
      lines
          .computeIfAbsent(line, prefix -> new StringJoiner(", ", prefix, " as fast\n"))
          .add(times(comparison));
    }
    return lines.values().stream().map(StringJoiner::toString).toList();
  }

  private static String times(Comparison comparison) {
    String format = comparison.times() < 10 ? "%.2fx" : "%.0fx";
    return String.format(Locale.ROOT, format, comparison.times()) + " " + comparison.than();
  }

  private static String machine(Map<String, Object> machine) {
    StringJoiner line = new StringJoiner(", ", "machine: ", "\n");
    machine.forEach((name, value) -> line.add(name + " " + value));
    return line.toString();
  }

  /** Column widths are fixed because a row is printed as soon as it is measured. */
  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%-20s %-22s %7s %6s %13s %13s %13s %12s %7s%n", cells);
  }

  private static String densityRow(Object... cells) {
    return String.format(Locale.ROOT, "%-12s %6s %7s %10s %9s %9s %9s %9s %9s %12s %12s%n", cells);
  }

  private static String ms(double value) {
    return String.format(Locale.ROOT, "%.3f ms", value);
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.2f MB", bytes / MEGABYTE);
  }

  private static String rate(Result result) {
    return result.perSecond() >= 1e6
        ? String.format(Locale.ROOT, "%.0f MB/s", result.perSecond() / 1e6)
        : String.format(Locale.ROOT, "%.0f /s", result.perSecond());
  }
}
