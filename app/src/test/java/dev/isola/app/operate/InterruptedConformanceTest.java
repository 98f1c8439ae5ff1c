package dev.isola.app.operate;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Terminating {@code isola conformance} destroys the sandboxes it created. */
@Tag("all")
class InterruptedConformanceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final TemporaryFolder scratch = TemporaryFolder.create("isola-cut-");
  private Optional<Process> started = Optional.empty();

  @AfterEach
  void end() {
    started.ifPresent(Process::destroyForcibly);
    scratch.close();
  }

  @ParameterizedTest
  @CsvSource({
    "subprocess, INT, 130",
    "subprocess, TERM, 143",
    "gvisor, INT, 130",
    "gvisor, TERM, 143",
  })
  void terminatedRunLeavesNothing(String name, String signal, int code) throws Exception {
    ProviderFactory factory = healthy(name);
    Sandboxes made = started(factory);
    assertThat(tell(signal)).isEqualTo(code);
    assertThat(made.left()).isEmpty();
    assertThat(made.data()).doesNotExist();
  }

  /** Control: a run killed by SIGKILL cannot clean up, and the test detects it. */
  @Test
  void leftoversOfAKilledRunAreDetected() throws Exception {
    ProviderFactory factory = healthy("subprocess");
    Sandboxes made = started(factory);
    // A run that stands still cannot destroy the sandbox that was seen before it is killed.
    await().atMost(TIMEOUT).until(() -> standsStillWithLeftovers(factory, made));
    assertThat(tell("KILL")).isEqualTo(137);
    assertThat(made.left()).isNotEmpty();
    made.destroy();
    assertThat(made.left()).isEmpty();
  }

  private boolean standsStillWithLeftovers(ProviderFactory factory, Sandboxes made)
      throws Exception {
    signal("STOP");
    if (found(factory).isPresent() && made.allHaveRecords() && !made.left().isEmpty()) {
      return true;
    }
    signal("CONT");
    return false;
  }

  private static ProviderFactory healthy(String name) {
    ProviderFactory factory =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(found -> found.name().equals(name))
            .findFirst()
            .orElseThrow();
    try (TemporaryInstallation trial = TemporaryInstallation.of(factory);
        Provider provider = trial.open()) {
      assumeTrue(provider.health() instanceof Health.Healthy, name + " does not work here");
    }
    return factory;
  }

  /** Starts the command and returns when the first sandbox of a check exists. */
  private Sandboxes started(ProviderFactory factory) throws IOException {
    started =
        Optional.of(
            new ProcessBuilder(
                    "env",
                    "--default-signal",
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-Djava.io.tmpdir=" + scratch.path(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "dev.isola.app.Main",
                    "conformance",
                    factory.name(),
                    "--only",
                    "Lifecycle")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start());
    // A sandbox bound to the life of its creator belongs to the health check.
    return await().atMost(TIMEOUT).until(() -> found(factory), Optional::isPresent).orElseThrow();
  }

  private Optional<Sandboxes> found(ProviderFactory factory) {
    try (Stream<Path> all = Files.walk(scratch.path(), 4)) {
      for (Path record : all.filter(path -> path.endsWith("record")).toList()) {
        Properties fields = new Properties();
        try (InputStream in = Files.newInputStream(record)) {
          fields.load(in);
        }
        if ("false".equals(fields.getProperty("shortLived")) && fields.containsKey("agentPid")) {
          Path data = scratch.path().resolve(scratch.path().relativize(record).getName(0));
          InstanceId instance = new InstanceId(fields.getProperty("instance"));
          return Optional.of(new Sandboxes(factory, instance, data));
        }
      }
      return Optional.empty();
    } catch (IOException | UncheckedIOException gone) {
      return Optional.empty(); // a sandbox that ends during the check
    }
  }

  private int tell(String signal) throws Exception {
    signal(signal);
    Process process = started.orElseThrow();
    assertThat(process.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
    return process.exitValue();
  }

  private void signal(String name) throws Exception {
    String pid = Long.toString(started.orElseThrow().pid());
    new ProcessBuilder("kill", "-" + name, pid).start().waitFor();
  }

  /** Sandboxes that a run of the kit created. */
  private record Sandboxes(ProviderFactory factory, InstanceId instance, Path data) {
    List<String> left() {
      LeakDetector census = new LeakDetector(instance, data);
      ResourceScan nothing = new ResourceScan(List.of(), ResourceScan.scan().descriptors());
      return census.leakedSince(nothing);
    }

    /** Returns false while a sandbox is being created: the inventory does not have it yet. */
    boolean allHaveRecords() throws IOException {
      try (Stream<Path> folders = Files.list(data.resolve("sandboxes"))) {
        return folders.allMatch(folder -> Files.exists(folder.resolve("record")));
      }
    }

    void destroy() {
      try (Provider provider =
          factory.create(
              ProviderConfig.EMPTY, new ProviderContext(instance, data, InstantSource.system()))) {
        provider.inventory().forEach(seen -> provider.destroy(seen.id(), DestroyOptions.FORCE));
      }
    }
  }
}
