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
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

  private static final String BEGIN = "<!-- ./check --all --record writes this -->";
  private static final String END = "<!-- until here -->";

  /** Folders of the machine, which differ from run to run. */
  private static final Pattern TEMPORARY = Pattern.compile("(?<![\\w.])/(tmp|root|home)/\\S*");

  private final List<TestResult> results = new ArrayList<>();
  private final Map<String, SuiteResult> run = new TreeMap<>();
  private int suites;

  /** Adds the results of a suite that was run now. */
  void add(SuiteResult suite) {
    suites++;
    run.put(suite.suite(), suite);
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

  /**
   * Writes all results, and the seconds and processor seconds of each suite, as tables into {@code
   * folder}.
   */
  void write(Path folder) throws IOException {
    Files.write(folder.resolve("results.tsv"), results.stream().map(TestResult::line).toList());
    writeSeconds(folder.resolve("seconds.tsv"), 0);
  }

  /** Writes the times of each suite that took at least {@code least} seconds into a table. */
  void writeSeconds(Path table, double least) throws IOException {
    Files.write(
        table,
        longest()
            .filter(one -> one.seconds() >= least)
            .map(
                one ->
                    "%s\t%.1f\t%.1f".formatted(one.suite(), one.seconds(), one.processorSeconds()))
            .toList());
  }

  private Stream<SuiteResult> longest() {
    return run.values().stream()
        .sorted(Comparator.comparingDouble(SuiteResult::seconds).reversed());
  }

  /** Prints where the time went, what was not run and why, and the counts. */
  void print(Duration build, Duration tests, int slots) {
    System.out.println();
    System.out.printf(
        Locale.ROOT,
        "Time: %s to compile, with tests beside it, and %s more for tests: %d suites, up to %d at once, %.0f s of processors. The longest, with their processor time:%n",
        minutes(build),
        minutes(tests),
        suites,
        slots,
        run.values().stream().mapToDouble(SuiteResult::processorSeconds).sum());
    longest()
        .limit(12)
        .forEach(
            one ->
                System.out.printf(
                    Locale.ROOT,
                    "%6.0f s %6.0f s  %s%n",
                    one.seconds(),
                    one.processorSeconds(),
                    one.suite()));
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
    System.out.printf("%nNOT RUN: %d%n", count(Outcome.NOT_RUN));
    notRun()
        .forEach(
            one ->
                System.out.printf(
                    "%5d  %-20s %s%n", one.count(), one.where(), shorten(one.reason())));
  }

  /** How many tests of a provider, or of a module without one, were not run for a reason. */
  private record NotRun(String where, String reason, int count) {}

  private List<NotRun> notRun() {
    Map<String, Map<String, Integer>> reasons = new TreeMap<>();
    for (TestResult one : results) {
      if (one.outcome() == Outcome.NOT_RUN) {
        reasons
            .computeIfAbsent(one.provider().orElse(one.module()), name -> new TreeMap<>())
            .merge(one.shortReason(), 1, Integer::sum);
      }
    }
    List<NotRun> all = new ArrayList<>();
    reasons.forEach(
        (where, counts) ->
            counts.entrySet().stream()
                .sorted(
                    Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(one -> all.add(new NotRun(where, one.getKey(), one.getValue()))));
    return all;
  }

  /**
   * Replaces the table between the two marks of {@code page} by what this run did not run.
   *
   * @param command the command of this run
   */
  void writeNotRun(Path page, String command) throws IOException {
    StringBuilder table = new StringBuilder();
    table.append("`%s`: %s.\n\n".formatted(command, counts(results).replace("skipped", "NOT RUN")));
    table.append("| provider or module | NOT RUN | reason |\n|---|---|---|\n");
    for (NotRun one : notRun()) {
      String reason = TEMPORARY.matcher(shorten(one.reason())).replaceAll("...").replace("|", "/");
      table.append("| %s | %d | %s |\n".formatted(one.where(), one.count(), reason));
    }
    String text = Files.readString(page);
    int begin = text.indexOf(BEGIN) + BEGIN.length();
    int end = text.indexOf(END);
    if (begin < BEGIN.length() || end < begin) {
      throw new IOException(page + " has no place for a table: " + BEGIN + " and " + END);
    }
    Files.writeString(page, text.substring(0, begin) + "\n" + table + text.substring(end));
  }

  private static String shorten(String text) {
    return text.length() <= 150 ? text : text.substring(0, 149) + "...";
  }

  static String minutes(Duration time) {
    return "%d:%02d min".formatted(time.toMinutes(), time.toSecondsPart());
  }
}
