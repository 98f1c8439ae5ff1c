package dev.isola.testing.runner;

import dev.isola.testing.runner.TestResult.Outcome;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Builds the repository and runs its tests. The script {@code check} runs this file from its
 * source, in the root of the repository, with {@code isola.jdk} as the JDK of the tests.
 */
public final class Check {
  /** Of modules with a change, {@code --changed} runs suites of up to these processor seconds. */
  private static final double LONGEST_OF_CHANGED = 10;

  /** Of modules that only depend on a change, it runs suites of up to these. */
  private static final double LONGEST_OF_DEPENDENT = 1;

  private static final String SECONDS = "testing/seconds.tsv";

  /** Quicker suites are not worth a line in the repository. */
  private static final double RECORDED_SECONDS = 2;

  private static final String RUNNER = "testing/runner";

  /** Stands for the checks with Error Prone, which one process makes for all modules. */
  private static final Module STRICT =
      new Module(
          "strict compiler",
          Path.of("").toAbsolutePath(),
          Set.of(),
          Set.of(),
          1,
          List.of(),
          List.of());

  /** A class that was never run is taken to be this long. */
  private static final double UNKNOWN_SECONDS = 1;

  private final Path repository;
  private final Path jdk;
  private final Options options;
  private final List<Module> modules;
  private final SourceFiles files;
  private final ModuleKeys keys;
  private final ResultCache cache;
  private final Path state;
  private final Report report = new Report();

  private Check(Path repository, Path jdk, Options options) throws IOException {
    this.repository = repository;
    this.jdk = jdk;
    this.options = options;
    this.modules = Module.read(repository);
    this.files = SourceFiles.read(repository);
    this.keys = new ModuleKeys(files, modules, Machine.buildTools(jdk), Machine.all(jdk));
    this.cache = new ResultCache(ResultCache.defaultFolder());
    this.state = Files.createDirectories(repository.resolve("target/check"));
  }

  /** Runs the check. The exit status is 0 if everything was built and nothing failed. */
  public static void main(String[] words)
      throws IOException, InterruptedException, ExecutionException {
    Options options;
    try {
      options = Options.parse(Arrays.asList(words), System.getenv("CI") != null);
    } catch (IllegalArgumentException e) {
      System.err.println("check: " + e.getMessage());
      System.exit(64);
      return;
    }
    Path jdk = Path.of(System.getProperty("isola.jdk", System.getProperty("java.home")));
    System.exit(new Check(Path.of("").toAbsolutePath(), jdk, options).run());
  }

  private int run() throws IOException, InterruptedException, ExecutionException {
    long start = System.nanoTime();
    JavaFormat format = new JavaFormat(repository, jdk, files, cache.folder());
    if (options.fix()) {
      format.fix();
      return 0;
    }
    // A wrong format neither hides nor delays what the tests say.
    Set<String> recent = changedFiles();
    FutureTask<List<String>> unformatted =
        new FutureTask<>(
            () ->
                format.unformatted(
                    options.cache(),
                    name -> options.tier() != Options.Tier.CHECK || recent.contains(name)));
    Thread.startVirtualThread(unformatted);
    Set<String> changed = options.base().isPresent() ? changed() : Set.of();
    Set<String> tested = tested(changed);
    if (tested.isEmpty()) {
      System.out.println("check: no module has changed since " + options.base().orElse(""));
    }

    // What passed with the same inputs is neither built nor run again.
    List<Module> due = new ArrayList<>();
    for (Module module : modules) {
      if (tested.contains(module.name())) {
        Optional<List<TestResult>> known =
            options.cache() && !options.rerun() && isWhole(module, changed)
                ? cache.results(keys.test(module, options))
                : Optional.empty();
        known.ifPresentOrElse(report::addCached, () -> due.add(module));
      }
    }
    long cached = report.count(Outcome.PASSED);
    if (cached > 0) {
      System.out.printf(
          "check: %d tests of %d modules passed here before, with the same inputs%n",
          cached, tested.size() - due.size());
    }

    // Tests mostly wait for other processes: fewer would leave processors idle.
    int slots = 4 * Runtime.getRuntime().availableProcessors();
    Path logs = Files.createDirectories(state.resolve("logs"));
    TestScheduler scheduler =
        new TestScheduler(slots, logs, this::command, new Progress(report)::add);
    List<Thread> threads = scheduler.start();
    Map<Suite, Double> left = new LinkedHashMap<>();
    SuiteTimes times = times();
    Set<String> testsChanged =
        keys.owners(
            recent.stream()
                .filter(name -> name.contains("/src/test/"))
                .collect(Collectors.toSet()));
    List<Module> built = new ArrayList<>();
    int status =
        build(
            due,
            module -> {
              built.add(module);
              if (MavenBuild.succeeded(runner())) {
                for (Module one : built) {
                  if (due.contains(one)) {
                    scheduler.add(suites(one, changed, recent, times, left));
                    scheduler.add(strictSuites(one, changed, testsChanged, times));
                  }
                }
                built.clear();
              }
            });
    Duration build = Duration.ofNanos(System.nanoTime() - start);
    scheduler.complete();
    for (Thread thread : threads) {
      thread.join();
    }
    if (!left.isEmpty()) {
      System.out.printf(
          "check: %d long suites, %.0f s of processors, are left to ./check: %s%n",
          left.size(),
          left.values().stream().mapToDouble(one -> one).sum(),
          left.keySet().stream()
              .map(suite -> suite.name().substring(suite.name().lastIndexOf('.') + 1))
              .sorted()
              .collect(Collectors.joining(" ")));
    }
    Duration tests = Duration.ofNanos(System.nanoTime() - start).minus(build);
    ModuleKeys after = keys.readAgain();
    for (TestResult one : report.resultsOf(STRICT)) {
      if (one.outcome() == Outcome.PASSED) {
        Module module = named(one.suite().replace(Suite.TESTS, ""));
        if (after.build(module).equals(keys.build(module))) {
          cache.saveResults(keys.strict(module, one.suite()), List.of(one));
        }
      }
    }
    for (Module module : due) {
      List<TestResult> results = report.resultsOf(module);
      if (isWhole(module, changed)
          && left.keySet().stream().noneMatch(suite -> suite.module().equals(module))
          && after.test(module, options).equals(keys.test(module, options))
          && MavenBuild.succeeded(module)
          && results.stream().noneMatch(one -> one.outcome() == Outcome.FAILED)) {
        cache.saveResults(keys.test(module, options), results);
      }
    }
    if (options.isWhole()) {
      report.addMissingProviders();
    }
    cache.prune();
    report.write(state);
    report.print(build, tests, slots);
    if (options.record()) {
      report.writeSeconds(repository.resolve(SECONDS), RECORDED_SECONDS);
      report.writeNotRun(repository.resolve("docs/conformance.md"), options.tier().command());
    }
    List<String> wrong = unformatted.get();
    wrong.forEach(name -> System.err.println("check: not formatted: " + name));
    if (!wrong.isEmpty()) {
      System.err.println("check: ./check --fix formats them");
    }
    return status == 0 && wrong.isEmpty() && report.count(Outcome.FAILED) == 0 ? 0 : 1;
  }

  /** Returns the modules that have changed since the commit of {@code --changed}. */
  private Set<String> changed() throws IOException {
    return keys.owners(files.changedSince(options.base().orElse("HEAD")));
  }

  /** Returns the modules whose tests are run, all or some. */
  private Set<String> tested(Set<String> changed) {
    Set<String> all = modules.stream().map(Module::name).collect(Collectors.toSet());
    if (options.base().isPresent()) {
      Set<String> dependents = keys.withDependents(changed);
      modules.stream()
          .filter(module -> module.inputs().contains("."))
          .forEach(module -> dependents.add(module.name()));
      return dependents;
    }
    if (options.modules().isEmpty()) {
      return all;
    }
    Set<String> chosen = new TreeSet<>();
    for (String wanted : options.modules()) {
      Set<String> below =
          all.stream()
              .filter(name -> SourceFiles.isBelow(name, List.of(wanted.replaceAll("/+$", ""))))
              .collect(Collectors.toSet());
      if (below.isEmpty()) {
        System.err.printf("check: no module %s; the modules are %s%n", wanted, all);
        System.exit(64);
      }
      chosen.addAll(below);
    }
    return chosen;
  }

  /** Returns whether all tests of the module's tier are run, so that the result can be kept. */
  private boolean isWhole(Module module, Set<String> changed) {
    return options.isWhole() && (options.base().isEmpty() || changed.contains(module.name()));
  }

  private int build(List<Module> due, Consumer<Module> listener) throws IOException {
    if (due.isEmpty()) {
      return 0;
    }
    Set<String> names = due.stream().map(Module::name).collect(Collectors.toSet());
    Set<String> wanted = keys.withDependencies(withRunner(names));
    Path log = state.resolve("build.log");
    int status =
        new MavenBuild(repository, jdk, keys, cache, options.cache())
            .run(
                modules.stream().filter(one -> wanted.contains(one.name())).toList(),
                log,
                listener);
    if (status != 0) {
      MavenBuild.errors(log).forEach(System.out::println);
      System.out.println("check: Maven ended with " + status + "; its log is " + log);
    }
    return status;
  }

  private Set<String> withRunner(Set<String> names) {
    Set<String> all = new TreeSet<>(names);
    all.add(RUNNER);
    return all;
  }

  /**
   * Returns the files that differ from those of main: since the commit at which this branch left
   * it, or since the last commit on main itself. The others were checked whole when they changed,
   * and are again by {@code --all}.
   */
  private Set<String> changedFiles() throws IOException {
    String base = commonCommit("origin/main").or(() -> commonCommit("HEAD~1")).orElse("HEAD");
    return files.changedSince(options.base().orElse(base));
  }

  /** Returns the commit at which HEAD left the other one, unless that is HEAD or is not here. */
  private Optional<String> commonCommit(String other) {
    try {
      String commit = files.git("merge-base", "HEAD", other).strip();
      return commit.equals(files.git("rev-parse", "HEAD").strip())
          ? Optional.empty()
          : Optional.of(commit);
    } catch (IOException e) {
      return Optional.empty(); // a clone without that commit
    }
  }

  /**
   * Returns the suites to run of a module. Those that {@code --changed} does not run, because they
   * take long and are not changed themselves, go to {@code left}.
   *
   * @param recent the files that were changed
   */
  private List<Suite> suites(
      Module module,
      Set<String> changed,
      Set<String> recent,
      SuiteTimes times,
      Map<Suite, Double> left) {
    double longest =
        options.base().isEmpty()
            ? Double.MAX_VALUE
            : changed.contains(module.name()) ? LONGEST_OF_CHANGED : LONGEST_OF_DEPENDENT;
    try {
      List<Suite> all = suites(module, times);
      List<Suite> slow =
          all.stream()
              .filter(one -> times.processorSeconds(one.name(), 0) > longest)
              .filter(one -> !recent.contains(module.name() + "/" + one.source()))
              .toList();
      slow.forEach(one -> left.put(one, times.processorSeconds(one.name(), 0)));
      return all.stream().filter(one -> !slow.contains(one)).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the suites of a module: its test classes, and programs that test its C code. */
  private List<Suite> suites(Module module, SuiteTimes times) throws IOException {
    Predicate<String> wanted = options.tests();
    List<Suite> suites = new ArrayList<>();
    Path classes = module.folder().resolve("target/test-classes");
    if (Files.isDirectory(classes)) {
      try (Stream<Path> all = Files.walk(classes)) {
        for (Path file : all.sorted().toList()) {
          String path = classes.relativize(file).toString();
          if (path.endsWith("Test.class") && !path.contains("$")) {
            String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
            if (wanted.test(name.substring(name.lastIndexOf('.') + 1))) {
              suites.add(Suite.ofClass(module, name, times.seconds(name, UNKNOWN_SECONDS)));
            }
          }
        }
      }
    }
    for (Suite program : programs(module, times)) {
      if (wanted.test(program.name())) {
        suites.add(program);
      }
    }
    return suites;
  }

  private List<Suite> programs(Module module, SuiteTimes times) {
    Path target = module.folder().resolve("target");
    List<Suite> programs = new ArrayList<>();
    if (module.name().equals("guest/agent")) {
      programs.add(
          program(
              module,
              "AgentCTests",
              times,
              List.of("make", "-s", "-j2", "OUT=" + target, "check"),
              target.resolve("c-tests.txt")));
      if (options.tier() != Options.Tier.CHECK) {
        programs.add(
            program(
                module,
                "AgentCTestsAarch64",
                times,
                List.of("make", "-s", "OUT=" + target, "check-aarch64"),
                target.resolve("c-tests-aarch64.txt")));
      }
      if (options.tier() == Options.Tier.LONG) {
        String time = "FUZZ_SECONDS=" + options.fuzzSeconds();
        programs.add(
            program(
                module,
                "AgentCFuzz",
                times,
                List.of("make", "-s", "OUT=" + target, time, "fuzz"),
                target.resolve("c-fuzz.txt")));
      }
    }
    if (module.name().equals("compat/e2b") && options.tier() != Options.Tier.CHECK) {
      Path counts = target.resolve("kernel-tests.txt");
      Path script = repository.resolve("testing/kernel/run.sh");
      programs.add(
          program(
              module,
              "KernelServerTests",
              times,
              List.of("sh", script.toString(), counts.toString()),
              counts));
    }
    return programs;
  }

  private static Suite program(
      Module module, String name, SuiteTimes times, List<String> command, Path counts) {
    return new Suite(module, name, times.seconds(name, 30.0), command, counts);
  }

  /**
   * Returns how long suites took: on this machine, else where {@code testing/seconds.tsv} is from.
   */
  private SuiteTimes times() throws IOException {
    return SuiteTimes.read(List.of(repository.resolve(SECONDS), state.resolve("seconds.tsv")));
  }

  /** Returns the checks with Error Prone and NullAway of a module that did not pass them before. */
  private List<Suite> strictSuites(
      Module module, Set<String> changed, Set<String> testsChanged, SuiteTimes times) {
    if (options.base().isPresent() && !changed.contains(module.name())) {
      return List.of(); // its own sources are what they were
    }
    List<String> names = new ArrayList<>(List.of(module.name()));
    if (options.tier() != Options.Tier.CHECK || testsChanged.contains(module.name())) {
      names.add(module.name() + Suite.TESTS);
    }
    try {
      List<Suite> suites = new ArrayList<>();
      for (String name : names) {
        Optional<List<TestResult>> known =
            options.cache() ? cache.results(keys.strict(module, name)) : Optional.empty();
        known.ifPresent(report::addCached);
        if (known.isEmpty()) {
          suites.add(Suite.ofClass(STRICT, name, times.seconds(name, 10.0)));
        }
      }
      return suites;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the command of the process of {@code StrictCompiler}.
   *
   * @param few whether it checks a few modules: of all, C2 saves more processor time than it takes
   */
  static List<String> strictCommand(Path jdk, Path repository, String classPath, boolean few) {
    List<String> command = new ArrayList<>(List.of(jdk.resolve("bin/java").toString()));
    command.addAll(
        few
            ? List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmn600m")
            : List.of("-XX:+UseParallelGC"));
    command.add("--sun-misc-unsafe-memory-access=allow");
    // Error Prone works in the compiler's own classes.
    for (String name : "api file main model parser processing tree util".split(" ")) {
      command.add("--add-exports=jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED");
    }
    for (String name : "code comp".split(" ")) {
      command.add("--add-opens=jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", classPath, "dev.isola.testing.runner.StrictCompiler"));
    command.addAll(List.of(repository.toString(), classPath));
    return command;
  }

  private Module runner() {
    return named(RUNNER);
  }

  private Module named(String name) {
    return modules.stream().filter(module -> module.name().equals(name)).findFirst().orElseThrow();
  }

  private List<String> command(Module module) throws IOException {
    if (module.equals(STRICT)) {
      String errorProne =
          MavenBuild.classPath(runner()).stream()
              .map(Path::toString)
              .collect(Collectors.joining(File.pathSeparator));
      boolean few = options.base().isPresent() || !options.modules().isEmpty();
      return strictCommand(jdk, repository, errorProne, few);
    }
    List<Path> classPath = new ArrayList<>(MavenBuild.classPath(module));
    MavenBuild.classPath(runner()).stream()
        .filter(
            entry ->
                entry.endsWith("target/classes")
                    || entry.getFileName().toString().startsWith("junit-platform-launcher"))
        .forEach(classPath::add);
    Map<String, Boolean> distinct = new LinkedHashMap<>();
    classPath.forEach(entry -> distinct.put(entry.toString(), true));
    List<String> command = new ArrayList<>(List.of(jdk.resolve("bin/java").toString()));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-XX:+UseSerialGC", "-Dslf4j.internal.verbosity=ERROR"));
    command.add("-Dbasedir=" + module.folder());
    command.addAll(module.jvmOptions());
    command.addAll(options.properties());
    command.addAll(List.of("-cp", String.join(File.pathSeparator, distinct.keySet())));
    command.add("dev.isola.testing.runner.TestWorker");
    command.addAll(options.tier().excluded());
    return command;
  }

  /** Prints a line from time to time. */
  private static final class Progress {
    private static final Duration EVERY = Duration.ofSeconds(30);

    private final Report report;
    private long printed = System.nanoTime();

    Progress(Report report) {
      this.report = report;
    }

    void add(SuiteResult result) {
      report.add(result);
      if (System.nanoTime() - printed > EVERY.toNanos()) {
        printed = System.nanoTime();
        System.out.printf(
            "check: %d suites, %d passed, %d failed%n",
            report.suites(), report.count(Outcome.PASSED), report.count(Outcome.FAILED));
      }
    }
  }
}
