package dev.isola.conformance.junit;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.HostLeakCheck;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.kit.ConformanceKit;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/**
 * Runs the conformance kit as JUnit tests. A subclass supplies the provider. A check that is not
 * run becomes an aborted test with the reason.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ConformanceTest {
  private @Nullable CheckRunner runner;
  private @Nullable Path data;

  /** Returns the provider, on a new data folder that is removed afterwards. Called once. */
  protected abstract ProviderUnderTest underTest() throws Exception;

  /** Returns the leak check that runs around every check. */
  protected LeakCheck leakCheck(ProviderUnderTest underTest) {
    return HostLeakCheck.of(underTest);
  }

  /**
   * Returns the groups of checks to run. Override it to run a subset if all of them take minutes.
   */
  protected List<String> groups() {
    return ConformanceKit.groups();
  }

  /** Returns these groups, or all groups in {@code ./check --long}. */
  protected static List<String> unlessLong(String... few) {
    return Boolean.getBoolean("isola.long") ? ConformanceKit.groups() : List.of(few);
  }

  @BeforeAll
  final void open() throws Exception {
    ProviderUnderTest underTest = underTest();
    data = underTest.data();
    runner = new CheckRunner(underTest, leakCheck(underTest));
  }

  @AfterAll
  final void close() {
    if (runner != null) {
      runner.close();
    }
    if (data != null) {
      TemporaryFolder.remove(data);
    }
  }

  @TestFactory
  final Stream<DynamicNode> conformance() {
    List<String> groups = groups();
    // A misspelled group has no checks and would pass.
    Assertions.assertTrue(
        ConformanceKit.groups().containsAll(groups),
        () -> "unknown groups among " + groups + "; known are " + ConformanceKit.groups());
    return groups.stream()
        .map(
            group ->
                dynamicContainer(
                    group,
                    ConformanceKit.checks(group).stream()
                        .map(check -> dynamicTest(check.id(), () -> judge(check)))));
  }

  private void judge(CheckCase check) {
    CheckRunner open = runner;
    Assertions.assertNotNull(open);
    CheckResult result = open.run(check);
    switch (result.outcome()) {
      case PASSED -> {}
      case FAILED -> Assertions.fail(result.id() + ": " + result.reason());
      case NOT_RUN -> Assumptions.abort("NOT RUN " + result.id() + ": " + result.reason());
    }
  }
}
