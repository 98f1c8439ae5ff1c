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
 * Shows the kit to JUnit: a subclass says which provider. What is not run is an aborted test with
 * its reason.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ConformanceTest {
  private @Nullable CheckRunner runner;
  private @Nullable Path data;

  /** Returns the provider, on a fresh data folder that is removed afterwards. Called once. */
  protected abstract ProviderUnderTest underTest() throws Exception;

  /** Returns what looks for leaks around every check. */
  protected LeakCheck leakCheck(ProviderUnderTest underTest) {
    return HostLeakCheck.of(underTest);
  }

  /** Returns the classes of checks to run; fewer where all of them would take minutes. */
  protected List<String> groups() {
    return ConformanceKit.groups();
  }

  /** Returns these classes of checks, or all of them in {@code ./check --long}. */
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
    return groups().stream()
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
