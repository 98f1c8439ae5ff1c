package dev.isola.tests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that no test waits for the clock, limits measured time, or needs a fixed port. */
final class TestCodeCheckTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

  /** The conformance kit is test code too. */
  private static final List<String> OTHER_TEST_CODE =
      List.of("testing/", "contract/conformance/src/main/java/");

  @Test
  void testCodeObeysTheRulesOrHasAnExemption() throws IOException {
    List<Path> files = testCode();
    List<JavaFileObject> sources = new ArrayList<>();
    for (Path file : files) {
      sources.add(new Source(file.toUri(), Files.readString(file)));
    }
    List<Finding> findings = TestCodeCheck.findings(sources);
    List<Exemption> exemptions = exemptions();
    assertThat(sources).hasSizeGreaterThan(700);
    assertThat(
            findings.stream()
                .filter(finding -> exemptions.stream().noneMatch(one -> one.covers(finding))))
        .as("statements without a line in test-code-exemptions.tsv")
        .isEmpty();
    assertThat(
            exemptions.stream().filter(exemption -> findings.stream().noneMatch(exemption::covers)))
        .as("lines of test-code-exemptions.tsv that match nothing; delete them")
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Thread.sleep(50);",
        "TimeUnit.SECONDS.sleep(1);",
        "LockSupport.parkNanos(1_000);",
        "run(Thread::sleep);"
      })
  void sleepIsRefused(String statement) throws IOException {
    assertRefused(Rule.SLEEP, statement, "wait for the condition with Awaitility");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "long start = System.nanoTime(); call();"
            + " assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);",
        "assertThat(took()).as(\"time\").isBetween(Duration.ofMillis(1), LIMIT);",
        "Duration took = Duration.between(start, clock.instant());"
            + " assertThat(took.toSeconds() < 5).isTrue();",
        "long end; end = System.currentTimeMillis(); Expect.that(5 > end - start, \"fast\");",
        "assertTimeoutPreemptively(LIMIT, () -> call());"
      })
  void upperBoundOnMeasuredTimeIsRefused(String statement) throws IOException {
    assertRefused(Rule.UPPER_BOUND, statement, "assert the effect instead");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "new ServerSocket(8080);",
        "new ServerSocket(PORT);",
        "new InetSocketAddress(\"127.0.0.1\", 18_080);",
        "serve(\"--port\", \"7777\");",
        "Isola.connect(\"http://127.0.0.1:7777\", KEY);"
      })
  void fixedPortIsRefused(String statement) throws IOException {
    assertRefused(Rule.FIXED_PORT, statement, "bind port 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "await().until(() -> done); // not Thread.sleep(50)",
        "String script = \"time.sleep(1000)\";",
        "assertThat(size).isLessThan(100);",
        "while (System.nanoTime() < end) { poll(); }",
        "assertThat(took()).isGreaterThan(LIMIT);",
        "new ServerSocket(0, 50, loopback);",
        "serve(\"--port\", \"0\");",
        "Isola.connect(\"http://127.0.0.1:1\", KEY);",
        "assertThat(page).contains(\"localhost:7777\");"
      })
  void otherStatementsPass(String statement) throws IOException {
    assertThat(findings(fixture(statement))).isEmpty();
  }

  private static void assertRefused(Rule rule, String statement, String instead)
      throws IOException {
    List<Finding> findings = findings(fixture(statement));
    assertThat(findings).extracting(Finding::rule).containsOnly(rule);
    assertThat(findings).extracting(Finding::member).containsOnly("planted.Fixture.test");
    assertThat(findings).first().asString().contains(instead);
  }

  private static String fixture(String statement) {
    return """
        package planted;

        class Fixture {
          static final int PORT = 7000;

          void test() {
            %s
          }

          Duration took() {
            return Duration.ofNanos(System.nanoTime() - START);
          }
        }
        """
        .formatted(statement);
  }

  private static List<Finding> findings(String source) throws IOException {
    return TestCodeCheck.findings(List.of(new Source(URI.create("string:///Source.java"), source)));
  }

  /** A source in memory. */
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(URI name, String text) {
      super(name, Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static List<Exemption> exemptions() throws IOException {
    try (InputStream table =
        Objects.requireNonNull(
            TestCodeCheckTest.class.getResourceAsStream("/test-code-exemptions.tsv"))) {
      return new String(table.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(Exemption::parse)
          .toList();
    }
  }

  private static List<Path> testCode() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files.filter(file -> isTestCode(ROOT.relativize(file).toString())).toList();
    }
  }

  private static boolean isTestCode(String file) {
    return file.endsWith(".java")
        && !file.contains("/target/")
        && (file.contains("src/test/java/") || OTHER_TEST_CODE.stream().anyMatch(file::startsWith));
  }
}
