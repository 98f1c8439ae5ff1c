package dev.isola.provider.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A reference backend as a real process, with a data folder of its own. */
record BackendProcess(Process process, String url, Path data) implements AutoCloseable {
  static final String KEY = "test-key-0123456789";

  /** Starts a program that prints its address. */
  static BackendProcess start(List<String> program) throws IOException {
    Path data = Files.createTempDirectory("isola-backend");
    List<String> line = new ArrayList<>(program);
    line.addAll(List.of("--port", "0", "--key", KEY, "--data", data.toString()));
    Process process =
        new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader out = process.inputReader();
    String url = out.readLine();
    assertThat(url).as("what %s prints first", line).startsWith("http://127.0.0.1:");
    return new BackendProcess(process, url, data);
  }

  /** Skips the tests of a class if a program that it needs is not there. */
  static void require(String program) {
    boolean found =
        List.of(System.getenv("PATH").split(":")).stream()
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    Assumptions.assumeTrue(found, "NOT RUN: there is no " + program);
  }

  ProviderConfig config() {
    return new ProviderConfig(Map.of("url", url, "key", KEY));
  }

  /** Returns the provider of this backend; skips the tests if the backend does not work here. */
  ProviderUnderTest underTest(String instance) throws IOException {
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new HttpProviderFactory(),
            config(),
            new InstanceId(instance),
            Files.createTempDirectory("isola"));
    try (Provider provider = underTest.open()) {
      if (provider.health() instanceof Health.Unhealthy(String reason, String fix)) {
        Assumptions.abort("NOT RUN: " + reason + "; " + fix);
      }
    }
    return underTest;
  }

  /** Ends the backend by TERM, which must end all processes of its sandboxes. */
  @Override
  public void close() {
    process.destroy();
    try {
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).as("the backend ends by TERM").isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    TemporaryFolder.remove(data);
  }
}
