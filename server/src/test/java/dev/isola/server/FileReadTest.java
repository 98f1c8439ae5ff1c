package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A key with scope read can read files, but not the environment of processes. */
class FileReadTest {
  @TempDir Path folder;

  @Test
  void readKeyCannotAccessKernelFileSystems() throws IOException {
    try (TestServer testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of())) {
      String id = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
      String files = "/api/v1/sandboxes/" + id + "/files";
      testServer.client().put(files + "/content?path=note", new byte[] {'x'});
      TestClient read = testServer.client(testServer.read);
      assertThat(read.get(files + "/content?path=note").text()).isEqualTo("x");
      for (String path :
          List.of(
              "/proc/1/environ",
              "//proc/1/environ",
              "/./proc/self/environ",
              "/dev/fd/../../1/environ",
              "../../proc/1/environ")) {
        assertThat(read.get(files + "/content?path=" + path).text())
            .as(path)
            .containsAnyOf("FORBIDDEN", "PATH_OUTSIDE");
        assertThat(testServer.client(testServer.use).get(files + "/content?path=" + path).text())
            .as("a key with scope use is not restricted here: " + path)
            .doesNotContain("scope read");
      }
      testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
    }
  }
}
