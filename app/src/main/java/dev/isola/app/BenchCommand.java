package dev.isola.app;

import dev.isola.bench.Absent;
import dev.isola.bench.Bench;
import dev.isola.bench.Plan;
import dev.isola.bench.Report;
import dev.isola.bench.Result;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code isola bench}. */
@Command(
    name = "bench",
    sortOptions = false,
    description = "Measure providers beside what the same work costs without them.")
final class BenchCommand implements Action {
  private final Wiring wiring;

  @Parameters(
      paramLabel = "BENCHMARK",
      arity = "0..*",
      description = "exec (a command), files (a large file, a tree) or flood (output).")
  private List<String> benchmarks = new ArrayList<>();

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      split = ",",
      description = "The providers to measure; repeatable. All by default.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--against",
      paramLabel = "NAME",
      split = ",",
      description = "What to compare with: raw, processbuilder, cp, tar. All by default.")
  private List<String> against = new ArrayList<>();

  @Option(
      names = "--n",
      paramLabel = "N",
      description = "Iterations. Default: 2000 for exec, 5 for the others.")
  private @Nullable String n;

  BenchCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    Plan plan = plan();
    if (!console.json()) {
      console.print(row("BENCHMARK", "SUBJECT", "AT ONCE", "N", "MEDIAN", "P99", "RATE", "RATIO"));
    }
    Report report = measure(plan, console);
    if (console.json()) {
      console.print(report.json());
    } else {
      for (Absent absent : report.absent()) {
        console.print("absent: " + absent.subject() + ": " + absent.reason() + "\n");
      }
    }
    return report.results().isEmpty() ? ExitCodes.NOT_RUN : ExitCodes.OK;
  }

  private Plan plan() {
    if (benchmarks.isEmpty()) {
      throw new UsageException(
          "no benchmark is named", "known: " + String.join(", ", Bench.BENCHMARKS));
    }
    FactoryChoice choice = new FactoryChoice(wiring.host().factories());
    List<ProviderFactory> providers = names.isEmpty() ? choice.all() : choice.named(names);
    return new Plan(
        List.copyOf(known("benchmark", benchmarks, Bench.BENCHMARKS)),
        providers,
        against.isEmpty()
            ? Set.copyOf(Bench.COMPARATORS)
            : known("comparator", against, Bench.COMPARATORS),
        iterations(),
        Plan.SIZE,
        Plan.FILES);
  }

  private static Set<String> known(String thing, List<String> words, List<String> known) {
    for (String word : words) {
      if (!known.contains(word)) {
        throw FactoryChoice.unknown(thing, word, known);
      }
    }
    return new LinkedHashSet<>(words);
  }

  private OptionalInt iterations() {
    if (n == null) {
      return OptionalInt.empty();
    }
    long count = Arguments.count("--n", n, "iterations");
    if (count < 1 || count > 1_000_000) {
      throw new UsageException("--n is " + count, "give 1 to 1000000");
    }
    return OptionalInt.of((int) count);
  }

  private static Report measure(Plan plan, Console console) {
    try {
      return new Bench(
              plan,
              result -> {
                if (!console.json()) {
                  console.print(row(result));
                }
              })
          .run();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "this machine does not let us measure: " + Reason.of(e),
              "look at the room in " + System.getProperty("java.io.tmpdir"))
          .exception(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted", "").exception(e);
    }
  }

  private static String row(Result result) {
    return row(
        result.benchmark(),
        result.subject(),
        Integer.toString(result.concurrency()),
        Integer.toString(result.n()),
        String.format(Locale.ROOT, "%.3f ms", result.medianMs()),
        String.format(Locale.ROOT, "%.3f ms", result.p99Ms()),
        rate(result),
        result.ratio().isPresent()
            ? String.format(Locale.ROOT, "%.2f", result.ratio().getAsDouble())
            : "-");
  }

  /** The widths are fixed, because a row is shown as soon as it is measured. */
  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%-12s %-16s %7s %6s %14s %14s %14s %7s%n", cells);
  }

  private static String rate(Result result) {
    return result.perSecond() >= 1e6
        ? String.format(Locale.ROOT, "%.0f MB/s", result.perSecond() / 1e6)
        : String.format(Locale.ROOT, "%.0f /s", result.perSecond());
  }
}
