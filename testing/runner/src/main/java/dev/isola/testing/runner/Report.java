package dev.isola.testing.runner;

import dev.isola.testing.runner.TestResult.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a run has found, and how it is printed. */
final class Report {
  /**
   * Providers with what they need of a machine. PRoot is not among them: the version of Debian 12
   * crashes programs that read links.
   */
  private static final Map<String, List<String>> PROVIDERS =
      Map.ofEntries(
          Map.entry("subprocess", List.of()),
          Map.entry("bubblewrap", List.of("bwrap")),
          Map.entry("crun", List.of("root", "crun")),
          Map.entry("runc", List.of("root", "runc")),
          Map.entry("gvisor", List.of("root", "runsc")),
          Map.entry("docker", List.of("root", "dockerd", "containerd", "runc")),
          Map.entry("gvisorindocker", List.of("root", "dockerd", "containerd", "runsc")),
          Map.entry("podman", List.of("root", "podman", "conmon", "runc")),
          Map.entry("qemu", List.of("kernel", "qemu-system-" + unameMachine())),
          Map.entry("firecracker", List.of("kvm", "firecracker")));

  private final List<TestResult> results = new ArrayList<>();
  private final Map<String, Double> seconds = new TreeMap<>();
  private int suites;

  /** Adds the results of a suite that was run now. */
  void add(SuiteResult suite) {
    suites++;
    seconds.put(suite.suite(), suite.seconds());
    addResults(suite.results());
  }

  private void addResults(List<TestResult> all) {
    results.addAll(all);
    for (TestResult one : all) {
      if (one.outcome() == Outcome.FAILED) {
        System.out.printf("FAILED %s: %s%n", one.suite(), one.name());
        one.reason().lines().limit(30).forEach(line -> System.out.println("    " + line));
      }
    }
  }

  /** Adds the results of an earlier run with the same inputs. */
  void addCached(List<TestResult> all) {
    results.addAll(all);
  }

  int suites() {
    return suites;
  }

  List<TestResult> resultsOf(Module module) {
    return results.stream().filter(one -> one.module().equals(module.name())).toList();
  }

  long count(Outcome outcome) {
    return count(results, outcome);
  }

  private static long count(List<TestResult> results, Outcome outcome) {
    return results.stream().filter(one -> one.outcome() == outcome).count();
  }

  /**
   * Adds a failure for each provider that can run on this machine and of which every check of the
   * kit was left out: a provider that is wrongly unhealthy must not look like one that is absent.
   */
  void addMissingProviders() {
    for (String provider : PROVIDERS.keySet().stream().sorted().toList()) {
      List<TestResult> kit =
          results.stream().filter(one -> one.provider().equals(Optional.of(provider))).toList();
      List<String> needs = PROVIDERS.getOrDefault(provider, List.of());
      if (!kit.isEmpty()
          && kit.stream().allMatch(one -> one.outcome() == Outcome.NOT_RUN)
          && needs.stream().allMatch(Report::has)) {
        TestResult first = kit.getFirst();
        addResults(
            List.of(
                new TestResult(
                    first.module(),
                    first.suite(),
                    "runs where it can",
                    Outcome.FAILED,
                    0,
                    "%s can run on this machine, which has %s, but no check of the kit was run: %s"
                        .formatted(provider, needs, first.shortReason()))));
      }
    }
  }

  private static boolean has(String need) {
    return switch (need) {
      case "root" -> System.getProperty("user.name", "").equals("root");
      case "kernel" ->
          !Optional.ofNullable(System.getenv("ISOLA_TEST_VMLINUZ")).orElse("").isEmpty();
      case "kvm" -> Files.isWritable(Path.of("/dev/kvm"));
      default -> Machine.program(need).isPresent();
    };
  }

  private static String unameMachine() {
    return System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
  }

  /** Writes all results, and the seconds of each suite, as tables into {@code folder}. */
  void write(Path folder) throws IOException {
    Files.write(folder.resolve("results.tsv"), results.stream().map(TestResult::line).toList());
    Files.write(
        folder.resolve("seconds.tsv"),
        seconds.entrySet().stream()
            .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
            .map(one -> "%s\t%.1f".formatted(one.getKey(), one.getValue()))
            .toList());
  }

  /** Prints where the time went, what was not run and why, and the counts. */
  void print(Duration build, Duration tests, int slots) {
    System.out.println();
    System.out.printf(
        Locale.ROOT,
        "Time: %s to compile, with tests beside it, and %s more for tests: %d suites, up to %d at once. The longest:%n",
        minutes(build),
        minutes(tests),
        suites,
        slots);
    seconds.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .limit(12)
        .forEach(
            one -> System.out.printf(Locale.ROOT, "%6.0f s  %s%n", one.getValue(), one.getKey()));
    printNotRun();
    System.out.println();
    results.stream()
        .collect(Collectors.groupingBy(TestResult::module, TreeMap::new, Collectors.toList()))
        .forEach((module, all) -> System.out.printf("%-36s %s%n", module, counts(all)));
    results.stream()
        .filter(one -> one.outcome() == Outcome.FAILED)
        .forEach(one -> System.out.printf("FAILED %s: %s%n", one.suite(), one.name()));
    System.out.println(counts(results));
  }

  private static String counts(List<TestResult> results) {
    return "%d passed, %d failed, %d skipped"
        .formatted(
            count(results, Outcome.PASSED),
            count(results, Outcome.FAILED),
            count(results, Outcome.NOT_RUN));
  }

  private void printNotRun() {
    Map<String, Map<String, Integer>> reasons = new TreeMap<>();
    for (TestResult one : results) {
      if (one.outcome() == Outcome.NOT_RUN) {
        reasons
            .computeIfAbsent(one.provider().orElse(one.module()), name -> new TreeMap<>())
            .merge(one.shortReason(), 1, Integer::sum);
      }
    }
    System.out.printf("%nNOT RUN: %d%n", count(Outcome.NOT_RUN));
    reasons.forEach(
        (where, counts) ->
            counts.entrySet().stream()
                .sorted(
                    Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(
                    one ->
                        System.out.printf(
                            "%5d  %-20s %s%n", one.getValue(), where, shorten(one.getKey()))));
  }

  private static String shorten(String text) {
    return text.length() <= 150 ? text : text.substring(0, 149) + "...";
  }

  static String minutes(Duration time) {
    return "%d:%02d min".formatted(time.toMinutes(), time.toSecondsPart());
  }
}
