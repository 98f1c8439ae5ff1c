package dev.isola.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs {@code @Sandboxed} tests in embedded mode with the oldest JUnit that is supported, in a JVM
 * of its own, and with that of the build.
 */
@Tag("all")
@Timeout(240)
class JUnitVersionsTest {
  /** The build copies the console launcher of JUnit 5 there; it contains all of JUnit. */
  private static final Path JUNIT5 = Path.of("target", "junit5");

  @TempDir Path folder;

  @Test
  void sandboxedTestsRunOnTheOldestJUnit() throws Exception {
    try (Stream<Path> jars = Files.list(JUNIT5)) {
      Path launcher = jars.findFirst().orElseThrow();
      String classPath =
          Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
              .filter(entry -> !isJUnit(entry))
              .collect(Collectors.joining(File.pathSeparator));
      String output = run(launcher + File.pathSeparator + classPath);
      assertThat(output).contains("3 tests successful", "0 tests failed");
    }
  }

  @Test
  void sandboxedTestsRunOnTheJUnitOfTheBuild() {
    System.setProperty("isola.url", "embedded");
    System.setProperty("isola.embedded.providers", "subprocess");
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    try {
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(SandboxedExample.class))
                  .build(),
              summary);
    } finally {
      System.clearProperty("isola.url");
      System.clearProperty("isola.embedded.providers");
    }
    assertThat(summary.getSummary().getFailures()).isEmpty();
    assertThat(summary.getSummary().getTestsSucceededCount()).isEqualTo(3);
  }

  private static boolean isJUnit(String entry) {
    String name = Path.of(entry).getFileName().toString();
    return name.startsWith("junit-") || name.startsWith("opentest4j");
  }

  private String run(String classPath) throws IOException, InterruptedException {
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-Disola.url=embedded",
                    "-Disola.embedded.providers=subprocess",
                    "-cp",
                    classPath,
                    "org.junit.platform.console.ConsoleLauncher",
                    "execute",
                    "--disable-banner",
                    "--select-class",
                    SandboxedExample.class.getName(),
                    "--include-classname",
                    ".*"))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(output);
    assertThat(process.exitValue()).as(text).isZero();
    return text;
  }
}
