package dev.isola.testing.runner;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The process that runs the test classes of one module. It reads their names from standard input,
 * one a line, and writes a line for each test, and one at the end of each class, to standard
 * output. {@link TestProcess} is the other end.
 */
final class TestWorker {
  private TestWorker() {}

  /** Runs the classes without the tests that have one of the tags {@code excluded}. */
  public static void main(String... excluded) throws IOException {
    PrintStream reports = System.out;
    Launcher launcher = LauncherFactory.create();
    BufferedReader classes =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name = classes.readLine(); name != null; name = classes.readLine()) {
      LauncherDiscoveryRequestBuilder request =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(DiscoverySelectors.selectClass(name))
              // A test that hangs is found by TestProcess, with the threads, not by a clock that a
              // busy machine outruns.
              .configurationParameter("junit.jupiter.execution.timeout.mode", "disabled");
      if (excluded.length > 0) {
        request.filters(TagFilter.excludeTags(excluded));
      }
      LauncherDiscoveryRequest discovery = request.build();
      try {
        launcher.execute(discovery, new Reporter(reports));
      } catch (RuntimeException | Error e) {
        report(reports, TestResult.Outcome.FAILED, name, 0, stackTrace(e));
      }
      end(reports);
    }
    System.exit(0); // threads of the tests may still run
  }

  /** Says that the last test of a class, or of what else was asked for, has been reported. */
  static void end(PrintStream reports) {
    reports.print("\n" + TestResult.MARK + "end\n");
    reports.flush();
  }

  static void report(
      PrintStream reports, TestResult.Outcome outcome, String name, long millis, String reason) {
    reports.print(
        "\n%s%s %d %s %s\n"
            .formatted(TestResult.MARK, outcome, millis, encode(name), encode(reason)));
    reports.flush();
  }

  private static String encode(String text) {
    return "=" + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String stackTrace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  /** Writes a line for each test, and for each container that was skipped or failed. */
  private static final class Reporter implements TestExecutionListener {
    private final PrintStream reports;
    private final Map<TestIdentifier, Long> starts = new ConcurrentHashMap<>();
    private Optional<TestPlan> plan = Optional.empty();

    Reporter(PrintStream reports) {
      this.reports = reports;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
      plan = Optional.of(started);
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      report(reports, TestResult.Outcome.NOT_RUN, nameOf(test), 0, reason);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
      starts.put(test, System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
      if (passed && !test.isTest()) {
        return;
      }
      long millis = (System.nanoTime() - starts.getOrDefault(test, System.nanoTime())) / 1_000_000;
      Throwable cause = result.getThrowable().orElse(null);
      switch (result.getStatus()) {
        case SUCCESSFUL -> report(reports, TestResult.Outcome.PASSED, nameOf(test), millis, "");
        case ABORTED ->
            report(
                reports,
                TestResult.Outcome.NOT_RUN,
                nameOf(test),
                millis,
                cause == null ? "" : String.valueOf(cause.getMessage()));
        case FAILED ->
            report(
                reports,
                TestResult.Outcome.FAILED,
                nameOf(test),
                millis,
                cause == null ? "" : stackTrace(cause));
      }
    }

    /** Returns the names from the one below the class to the test; of a class its own. */
    private String nameOf(TestIdentifier test) {
      Deque<String> names = new ArrayDeque<>();
      for (Optional<TestIdentifier> one = Optional.of(test);
          one.isPresent() && (names.isEmpty() || !isTopClass(one.orElseThrow()));
          one = one.flatMap(this::parent)) {
        names.addFirst(one.orElseThrow().getDisplayName());
      }
      return String.join(" > ", names);
    }

    /** Only the engine is above a top class. */
    private boolean isTopClass(TestIdentifier one) {
      return parent(one).filter(above -> parent(above).isPresent()).isEmpty();
    }

    private Optional<TestIdentifier> parent(TestIdentifier test) {
      return plan.flatMap(known -> known.getParent(test));
    }
  }
}
