package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs suites of all modules at once, the longest first. A process runs test classes of one module
 * until there are no more; a module has no more processes than its pom allows.
 */
final class TestScheduler {
  private static final Pattern COUNTS =
      Pattern.compile("(\\d+) passed, (\\d+) failed(?:, (\\d+) skipped)?");

  private final Map<String, List<Suite>> waiting = new TreeMap<>(); // the longest last
  private final Map<String, Integer> active = new TreeMap<>();
  private final List<TestProcess> processes = new ArrayList<>();
  private final int slots;
  private int usable;
  private boolean complete;
  private final Path logs;
  private final Worker commands;
  private final Consumer<SuiteResult> listener;
  private int started;
  private boolean stopped;

  /** Returns the command that starts a process for the test classes of a module. */
  interface Worker {
    List<String> commandFor(Module module) throws IOException;
  }

  /**
   * Creates a scheduler.
   *
   * @param slots how many suites run at once, when all have been added
   * @param listener is passed the results of each suite, from many threads, one at a time
   */
  TestScheduler(int slots, Path logs, Worker commands, Consumer<SuiteResult> listener) {
    this.slots = slots;
    this.usable = Math.max(1, slots / 2);
    this.logs = logs;
    this.commands = commands;
    this.listener = listener;
  }

  /**
   * Starts to run suites that are added. Until all are, half of the slots are left to the build.
   */
  List<Thread> start() {
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "ends the test processes"));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      threads.add(Thread.ofPlatform().name("slot " + i).start(this::work));
    }
    return threads;
  }

  /** Adds the suites of a module. */
  synchronized void add(Collection<Suite> suites) {
    for (Suite suite : suites) {
      waiting.computeIfAbsent(suite.module().name(), name -> new ArrayList<>()).add(suite);
    }
    waiting.values().forEach(list -> list.sort(Comparator.comparingDouble(Suite::seconds)));
    notifyAll();
  }

  /** Says that no more suites follow. The threads end after the last suite. */
  synchronized void complete() {
    complete = true;
    usable = slots;
    notifyAll();
  }

  private void work() {
    for (Optional<Module> next = choose(); next.isPresent(); next = choose()) {
      Module module = next.orElseThrow();
      Optional<TestProcess> process = Optional.empty();
      try {
        for (Optional<Suite> one = poll(module); one.isPresent(); one = poll(module)) {
          Suite suite = one.orElseThrow();
          long start = System.nanoTime();
          if (!suite.isClass()) {
            Path times = logs.resolve(suite.name().replace('/', '-') + ".times");
            List<TestResult> results = runProgram(suite, times);
            report(suite.name(), results, start, ProcessorTime.of(times));
            continue;
          }
          if (!process.map(TestProcess::isAlive).orElse(false)) {
            process = Optional.of(open(module));
          }
          TestProcess worker = process.orElseThrow();
          double before = worker.processorSeconds();
          List<TestResult> results = worker.run(module.name(), suite.name());
          report(suite.name(), results, start, Math.max(0, worker.processorSeconds() - before));
        }
      } catch (IOException e) {
        report(
            "test process",
            List.of(failure(module, "test process", e.toString())),
            System.nanoTime(),
            0);
      } finally {
        close(module, process);
      }
    }
  }

  /** Returns the module with most left to do for each of its processes, or nothing at the end. */
  private synchronized Optional<Module> choose() {
    while (true) {
      boolean any = false;
      Optional<Module> best = Optional.empty();
      double most = -1;
      for (List<Suite> suites : waiting.values()) {
        if (suites.isEmpty() || stopped) {
          continue;
        }
        any = true;
        Module module = suites.getFirst().module();
        int running = active.getOrDefault(module.name(), 0);
        double left = suites.stream().mapToDouble(Suite::seconds).sum() / (running + 1);
        if (running < module.forks() && left > most) {
          most = left;
          best = Optional.of(module);
        }
      }
      if (best.isPresent() && active.values().stream().mapToInt(one -> one).sum() < usable) {
        active.merge(best.orElseThrow().name(), 1, Integer::sum);
        return best;
      }
      if (stopped || (complete && !any)) {
        return Optional.empty();
      }
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return Optional.empty();
      }
    }
  }

  private synchronized Optional<Suite> poll(Module module) {
    List<Suite> suites = waiting.getOrDefault(module.name(), List.of());
    return suites.isEmpty() || stopped ? Optional.empty() : Optional.of(suites.removeLast());
  }

  private synchronized TestProcess open(Module module) throws IOException {
    Path log = logs.resolve(module.name().replace('/', '-') + "-" + ++started + ".log");
    TestProcess process = new TestProcess(commands.commandFor(module), module.folder(), log);
    processes.add(process);
    return process;
  }

  private void close(Module module, Optional<TestProcess> process) {
    try {
      if (process.isPresent()) {
        process.orElseThrow().close();
      }
    } catch (IOException e) {
      report(
          "test process",
          List.of(failure(module, "test process", e.toString())),
          System.nanoTime(),
          0);
    }
    synchronized (this) {
      process.ifPresent(processes::remove);
      active.merge(module.name(), -1, Integer::sum);
      notifyAll();
    }
  }

  private synchronized void report(
      String suite, List<TestResult> results, long start, double processorSeconds) {
    double seconds = (System.nanoTime() - start) / 1e9;
    listener.accept(new SuiteResult(suite, seconds, processorSeconds, results));
  }

  private synchronized void stop() {
    stopped = true;
    processes.forEach(TestProcess::destroy);
  }

  private List<TestResult> runProgram(Suite suite, Path times) throws IOException {
    Module module = suite.module();
    Path log = logs.resolve(suite.name().replace('/', '-') + ".log");
    long start = System.nanoTime();
    Files.deleteIfExists(suite.counts());
    Process process =
        new ProcessBuilder(ProcessorTime.recorded(suite.command(), times))
            .directory(suite.module().folder().toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    int status = Commands.await(process);
    long millis = (System.nanoTime() - start) / 1_000_000;
    String output = Files.readString(log);
    Matcher counts =
        COUNTS.matcher(Files.exists(suite.counts()) ? Files.readString(suite.counts()) : "");
    if (!counts.find()) {
      return List.of(failure(module, suite.name(), "it left no counts\n" + output));
    }
    List<TestResult> results = new ArrayList<>();
    int failed = Integer.parseInt(counts.group(2));
    for (int i = Integer.parseInt(counts.group(1)); i > 0; i--) {
      results.add(result(suite, "test " + i, TestResult.Outcome.PASSED, i == 1 ? millis : 0, ""));
    }
    for (int i = failed; i > 0; i--) {
      results.add(
          result(suite, "failure " + i, TestResult.Outcome.FAILED, 0, i == failed ? output : ""));
    }
    List<String> reasons =
        output
            .lines()
            .map(String::strip)
            .filter(line -> line.startsWith("NOT RUN"))
            .map(line -> line.replaceFirst("^NOT RUN:? *", ""))
            .toList();
    int skipped = counts.group(3) == null ? reasons.size() : Integer.parseInt(counts.group(3));
    for (int i = 0; i < skipped; i++) {
      String line = i < reasons.size() ? reasons.get(i) : "not run: see " + log.getFileName();
      int colon = line.indexOf(": ");
      results.add(
          result(
              suite,
              line.substring(0, Math.max(colon, 0)),
              TestResult.Outcome.NOT_RUN,
              0,
              line.substring(colon + 1).strip()));
    }
    if (status != 0 && failed == 0) {
      results.add(failure(module, suite.name(), "exit status " + status + "\n" + output));
    }
    return results;
  }

  private static TestResult result(
      Suite suite, String name, TestResult.Outcome outcome, long millis, String reason) {
    return new TestResult(suite.module().name(), suite.name(), name, outcome, millis, reason);
  }

  private static TestResult failure(Module module, String suite, String reason) {
    return new TestResult(module.name(), suite, "run", TestResult.Outcome.FAILED, 0, reason);
  }
}
