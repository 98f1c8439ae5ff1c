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

/** E2B's API gives no lesser key a sandbox that an administrator made on the host's network. */
class E2bHostAccessTest {
  private static final String HOST = "{\"network\":{\"mode\":\"host\"}}";

  @TempDir Path folder;

  @Test
  void noTokenOfASandboxOnTheHostsNetworkIsAnsweredToALesserKey() throws IOException {
    try (TestServer house =
        E2bTestServer.open(
            folder.resolve("house"),
            new SubprocessProviderFactory(),
            serving -> HttpServerOptions.NONE,
            Map.of("allow_host_network", "true", "shutdown", "drain"))) {
      String id = house.client().post("/api/v1/sandboxes", HOST).field("id");
      Map<String, String> use = Map.of("X-API-KEY", house.use);
      TestClient client = house.client("");
      assertThat(client.send("GET", "/sandboxes/" + id, use, new byte[0]).text())
          .contains(id)
          .doesNotContain("envdAccessToken");
      assertThat(client.send("POST", "/sandboxes/" + id + "/connect", use, new byte[0]).status())
          .isEqualTo(403);
      Map<String, String> admin = Map.of("X-API-KEY", house.admin);
      assertThat(client.send("GET", "/sandboxes/" + id, admin, new byte[0]).text())
          .contains("envdAccessToken");
      house.client().delete("/api/v1/sandboxes/" + id + "?force=true");
    }
  }
}
