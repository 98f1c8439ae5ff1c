package dev.isola.compat.e2b;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys below scope admin get no access to a sandbox on the host's network through E2B's API. */
class E2bHostAccessTest {
  private static final String HOST = "{\"network\":{\"mode\":\"host\"}}";

  @TempDir Path folder;

  @Test
  void tokenOfASandboxOnTheHostNetworkRequiresScopeAdmin() throws IOException {
    try (TestServer testServer =
        E2bTestServer.open(
            folder.resolve("server"),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of("allow_host_network", "true", "shutdown", "drain"))) {
      String id = testServer.client().post("/api/v1/sandboxes", HOST).field("id");
      Map<String, String> use = Map.of("X-API-KEY", testServer.use);
      TestClient client = testServer.client("");
      assertThat(client.send("GET", "/sandboxes/" + id, use, new byte[0]).text())
          .contains(id)
          .doesNotContain("envdAccessToken");
      assertThat(client.send("POST", "/sandboxes/" + id + "/connect", use, new byte[0]).status())
          .isEqualTo(403);
      Map<String, String> admin = Map.of("X-API-KEY", testServer.admin);
      assertThat(client.send("GET", "/sandboxes/" + id, admin, new byte[0]).text())
          .contains("envdAccessToken");
      testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
    }
  }
}
