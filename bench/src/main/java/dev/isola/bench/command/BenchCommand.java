package dev.isola.bench.command;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.ProviderFactorySelection;
import dev.isola.app.cli.UsageException;
import dev.isola.bench.Bench;
import dev.isola.bench.BenchPlan;
import dev.isola.bench.Density;
import dev.isola.bench.MemoryForks;
import dev.isola.bench.Report;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
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
    description = "Measure providers, compared with the same work without them.")
final class BenchCommand implements CliCommand {
  private final CommandContext wiring;

  @Parameters(
      paramLabel = "BENCHMARK|PROVIDER",
      arity = "0..*",
      description = {
        "create (to the first result), warm (from the warm pool), exec (a command), files (a"
            + " large file, a tree), flood (output), density (many sandboxes), snapshot (of a tree,"
            + " with restore and forks), fork (ten at once), fork-memory (ten with a running"
            + " interpreter);",
        "then the providers to measure (default: all)."
      })
  private List<String> arguments = new ArrayList<>();

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      split = ",",
      description = "A provider to measure; repeatable.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--against",
      paramLabel = "NAME",
      split = ",",
      description =
          "What to compare with: raw, processbuilder, cp, tar, restic, engine (the provider through"
              + " the engine), docker, docker-api, podman, bwrap, crun, runc, runsc. Default: all"
              + " that are available.")
  private List<String> against = new ArrayList<>();

  @Option(
      names = "--n",
      paramLabel = "N",
      description =
          "Number of iterations. Default: 2000 for exec (fewer for slow peers), 50 for create and"
              + " warm, 5 for the others.")
  private @Nullable String n;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "Number of sandboxes in density (default: 200).")
  private @Nullable String count;

  @Option(
      names = "--docker-host",
      paramLabel = "URL",
      description =
          "Address of Docker's engine. Default: $DOCKER_HOST, else unix:///var/run/docker.sock."
              + " None is started.")
  private @Nullable String dockerHost;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "Image of docker and podman containers (default: busybox). It is not pulled.")
  private @Nullable String image;

  BenchCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    BenchPlan plan = plan();
    BenchReport report = new BenchReport(console);
    Report measured = measure(plan, report);
    report.end(measured);
    boolean good =
        measured.densities().stream().allMatch(Density::passed)
            && measured.memoryForks().stream().allMatch(MemoryForks::passed);
    return measured.isEmpty() || !good ? ExitCodes.NOT_RUN : ExitCodes.OK;
  }

  private BenchPlan plan() {
    Set<String> benchmarks = new LinkedHashSet<>();
    List<String> providers = new ArrayList<>();
    for (String word : arguments) {
      if (Bench.BENCHMARKS.contains(word)) {
        benchmarks.add(word);
      } else if (benchmarks.isEmpty()) {
        throw ProviderFactorySelection.unknown("benchmark", word, Bench.BENCHMARKS);
      } else {
        providers.add(word);
      }
    }
    if (benchmarks.isEmpty()) {
      throw new UsageException(
          "no benchmark is named", "known: " + String.join(", ", Bench.BENCHMARKS));
    }
    providers.addAll(names);
    ProviderFactorySelection choice =
        new ProviderFactorySelection(wiring.environment().factories());
    OptionalInt sandboxes = number("--count", count, "sandboxes", 10_000);
    return new BenchPlan(
        List.copyOf(benchmarks),
        providers.isEmpty() ? choice.all() : choice.named(providers),
        against.isEmpty()
            ? Set.copyOf(Bench.COMPARATORS)
            : known("comparator", against, Bench.COMPARATORS),
        number("--n", n, "iterations", 1_000_000),
        sandboxes.isPresent()
            ? BenchPlan.Sizes.DEFAULT.withSandboxes(sandboxes.getAsInt())
            : BenchPlan.Sizes.DEFAULT,
        engines());
  }

  private BenchPlan.Engines engines() {
    String docker = wiring.environment().variables().getOrDefault("DOCKER_HOST", "");
    if (dockerHost != null) {
      docker = dockerHost;
    }
    return new BenchPlan.Engines(
        docker.isEmpty() ? BenchPlan.Engines.DOCKER : docker,
        image == null ? BenchPlan.Engines.DEFAULT.image() : image);
  }

  private static Set<String> known(String thing, List<String> arguments, List<String> known) {
    for (String word : arguments) {
      if (!known.contains(word)) {
        throw ProviderFactorySelection.unknown(thing, word, known);
      }
    }
    return new LinkedHashSet<>(arguments);
  }

  private static OptionalInt number(String option, @Nullable String text, String of, int most) {
    if (text == null) {
      return OptionalInt.empty();
    }
    long number = Arguments.count(option, text, of);
    if (number < 1 || number > most) {
      throw new UsageException(option + " is " + number, "use 1 to " + most);
    }
    return OptionalInt.of((int) number);
  }

  private static Report measure(BenchPlan plan, BenchReport report) {
    try {
      return new Bench(plan, report).run();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the benchmark cannot run on this machine: " + IoErrors.describe(e),
              "check the free space in " + System.getProperty("java.io.tmpdir"))
          .exception(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted", "").exception(e);
    }
  }
}
