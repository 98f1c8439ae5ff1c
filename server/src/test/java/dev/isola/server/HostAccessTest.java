package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The network and folders of the host are for administrators, where the operator allows them, and
 * no lesser key gets them through a sandbox that an administrator made.
 */
class HostAccessTest {
  private static final String HOST = "{\"network\":{\"mode\":\"host\"}}";

  @TempDir Path folder;

  private TestServer house(Map<String, String> settings) {
    return new TestServer(
        folder.resolve("house"),
        Duration.ofSeconds(30),
        new SubprocessProviderFactory(),
        serving -> HttpServerOptions.NONE,
        settings);
  }

  private static Map<String, String> allowed() {
    Map<String, String> settings = new HashMap<>();
    settings.put("allow_host_network", "true");
    settings.put("allow_host_folders", "true");
    settings.put("shutdown", "drain"); // nothing is left running when the test ends
    return settings;
  }

  private List<String> wide() throws IOException {
    Path shared = Files.createDirectories(folder.resolve("shared"));
    return List.of(
        HOST,
        "{\"workspacePath\":\"" + shared + "\"}",
        "{\"volumes\":[{\"type\":\"bind\",\"source\":\"/etc\",\"destination\":\"/x\"}]}");
  }

  @Test
  void noKeyOpensTheHostUnlessTheOperatorAllowsIt() throws IOException {
    try (TestServer house = house(Map.of())) {
      for (String spec : wide()) {
        for (String key : List.of(house.use, house.admin)) {
          TestClient.Response refused = house.client(key).post("/api/v1/sandboxes", spec);
          assertThat(refused.status()).as(spec + refused.text()).isEqualTo(403);
        }
        assertThat(house.client().post("/api/v1/sandboxes", spec).text())
            .contains(spec.equals(HOST) ? "allow_host_network" : "allow_host_folders");
      }
    }
  }

  @Test
  void whereTheOperatorAllowsItTheHostIsForAdministratorsOnly() throws IOException {
    try (TestServer house = house(allowed())) {
      for (String spec : wide()) {
        TestClient.Response refused = house.client(house.use).post("/api/v1/sandboxes", spec);
        assertThat(refused.status()).as(spec + refused.text()).isEqualTo(403);
        assertThat(refused.text()).contains("scope admin");
        assertThat(house.client().post("/api/v1/sandboxes", spec).status())
            .as(spec)
            .isNotEqualTo(403);
      }
    }
  }

  @Test
  void aSandboxOnTheHostsNetworkIsUsedByAdministratorsAndTheirTokensOnly() throws Exception {
    try (TestServer house = house(allowed());
        ServerSocket service = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> serve(service));
      TestClient admin = house.client();
      TestClient.Response made = admin.post("/api/v1/sandboxes", HOST);
      assertThat(made.status()).as(made.text()).isEqualTo(201);
      String sandbox = "/api/v1/sandboxes/" + made.field("id");
      String port = sandbox + "/ports/" + service.getLocalPort();
      TestClient use = house.client(house.use);
      String exec = "{\"command\":\"true\"}";

      assertThat(use.get(port + "/").status()).isEqualTo(403);
      assertThat(use.post(sandbox + "/exec", exec).status()).isEqualTo(403);
      assertThat(use.post(sandbox + "/fork", "{}").status()).isEqualTo(403);
      assertThat(use.get(sandbox + "/files/content?path=/etc/hostname").status()).isEqualTo(403);
      assertThat(use.post(sandbox + "/tokens", token("use")).status()).isEqualTo(403);
      assertThat(use.post(port + "/link", "{\"ttlSeconds\":60}").status()).isEqualTo(403);
      assertThat(use.send("PUT", port, Map.of(), "{\"public\":true}".getBytes(UTF_8)).status())
          .isEqualTo(403);
      assertThat(use.get(sandbox).status()).as("it is described").isEqualTo(200);

      assertThat(admin.get(port + "/").text()).isEqualTo("the host's");
      String made2 = admin.post(sandbox + "/tokens", token("use")).field("token");
      assertThat(house.client(made2).post(sandbox + "/exec", exec).status()).isEqualTo(200);
      assertThat(house.client(made2).get(port + "/").status()).isEqualTo(200);
      admin.delete(sandbox + "?force=true");
    }
  }

  private static String token(String scope) {
    return "{\"scope\":\"" + scope + "\",\"ttlSeconds\":60}";
  }

  /** A service of the host that listens on loopback. */
  private static void serve(ServerSocket service) {
    while (!service.isClosed()) {
      try (Socket socket = service.accept();
          OutputStream out = socket.getOutputStream()) {
        socket.getInputStream().read();
        out.write(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nthe host's"
                .getBytes(UTF_8));
      } catch (IOException closed) {
        // The test is over, or its client is.
      }
    }
  }
}
