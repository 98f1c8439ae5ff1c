package dev.isola.provider.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** B9: the backend in Go, written after docs/write-a-backend.md, passes the conformance kit. */
@Tag("all")
final class GoBackendConformanceTest extends BackendConformanceTest {
  private static @Nullable Path folder;

  @Override
  List<String> program() throws Exception {
    BackendProcess.require("go");
    Path built = Files.createTempDirectory("isola-go");
    folder = built;
    Path program = built.resolve("simple-backend");
    ProcessBuilder build =
        new ProcessBuilder("go", "build", "-o", program.toString(), "backends/simple_backend.go")
            .inheritIO();
    build.environment().put("GOPROXY", "off");
    Process process = build.start();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as("the exit code of go build").isZero();
    return List.of(program.toString());
  }

  @AfterAll
  static void removeProgram() {
    if (folder != null) {
      TemporaryFolder.remove(folder);
    }
  }

  @Override
  protected List<String> groups() {
    return unlessLong("SecretEnv");
  }
}
