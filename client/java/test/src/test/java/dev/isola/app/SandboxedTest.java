package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.junit.Sandboxed;
import dev.isola.testing.server.TestServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A1: {@code @Sandboxed}, run by JUnit's launcher against a real server. */
@Timeout(120)
class SandboxedTest {
  private static final List<String> SEEN = new CopyOnWriteArrayList<>();

  @TempDir static Path data;
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start(data, "subprocess");
    System.setProperty("isola.url", server.url());
    System.setProperty("isola.key", server.key());
  }

  @AfterAll
  static void end() {
    System.clearProperty("isola.url");
    System.clearProperty("isola.key");
    server.close();
  }

  @Sandboxed(spec = "{\"env\": {\"COLOUR\": \"red\"}}")
  static class PassingTests {
    @BeforeEach
    void before(Sandbox sandbox) {
      sandbox.files().write("note", sandbox.id());
    }

    @Test
    void first(Sandbox sandbox) {
      SEEN.add(sandbox.exec("cat note; echo $COLOUR").stdout());
    }

    @Test
    void second(Sandbox sandbox, Isola isola) {
      SEEN.add(sandbox.exec("cat note; echo $COLOUR").stdout());
      assertThat(isola.list(SandboxFilter.ALL.tag("test", "PassingTests"))).hasSize(1);
      sandbox.destroy(); // a test may destroy its sandbox
    }

    @Test
    void withoutSandbox() {}

    @AfterEach
    void after(Isola isola) {
      assertThat(isola.list(SandboxFilter.ALL)).hasSizeLessThan(2);
    }
  }

  static class FailingTests {
    @Test
    @Sandboxed
    void fails(Sandbox sandbox) {
      SEEN.add(sandbox.id());
      sandbox.start(dev.isola.client.Command.shell("echo a clue")).await();
      throw new AssertionError("on purpose");
    }
  }

  /** Result of running a test class. */
  private static final class Outcome implements TestExecutionListener {
    final List<TestExecutionResult> results = new ArrayList<>();
    final List<String> reports = new ArrayList<>();

    static Outcome of(Class<?> type) {
      Outcome outcome = new Outcome();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request().selectors(selectClass(type)).build(),
              outcome);
      return outcome;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      if (test.isTest()) {
        results.add(result);
      }
    }

    @Override
    public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
      reports.add(entry.getKeyValuePairs().getOrDefault("isola.logs", ""));
    }
  }

  private static void assertNothingIsLeft() {
    try (Isola isola = Isola.connect(server.url(), server.key())) {
      assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
    }
  }

  @Test
  void eachTestGetsAFreshSandboxThatIsDestroyed() {
    SEEN.clear();
    Outcome outcome = Outcome.of(PassingTests.class);
    assertThat(outcome.results)
        .hasSize(3)
        .allMatch(one -> one.getStatus() == TestExecutionResult.Status.SUCCESSFUL);
    assertThat(SEEN).hasSize(2).doesNotHaveDuplicates().allMatch(text -> text.endsWith("red\n"));
    assertThat(outcome.reports).isEmpty();
    assertNothingIsLeft();
  }

  @Test
  void failedTestPrintsCommandOutput() {
    SEEN.clear();
    Outcome outcome = Outcome.of(FailingTests.class);
    assertThat(outcome.results)
        .singleElement()
        .matches(one -> one.getStatus() == TestExecutionResult.Status.FAILED);
    assertThat(outcome.reports).singleElement().asString().contains(SEEN.getFirst(), "a clue\n");
    assertNothingIsLeft();
  }
}
