package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Route;
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
 * Access to the host's network and directories requires scope admin and the operator's permission,
 * and a key below scope admin cannot get it through a sandbox that an administrator created.
 */
class HostAccessTest {
  private static final String HOST = "{\"network\":{\"mode\":\"host\"}}";

  @TempDir Path folder;

  private TestServer startServer(Map<String, String> settings) {
    return new TestServer(
        folder.resolve("server"),
        Duration.ofSeconds(30),
        new SubprocessProviderFactory(),
        context -> HttpServerOptions.NONE,
        settings);
  }

  private static Map<String, String> allowed() {
    Map<String, String> settings = new HashMap<>();
    settings.put("allow_host_network", "true");
    settings.put("allow_host_folders", "true");
    settings.put("shutdown", "drain"); // nothing keeps running after the test
    return settings;
  }

  private List<String> specsWithHostAccess() throws IOException {
    Path shared = Files.createDirectories(folder.resolve("shared"));
    return List.of(
        HOST,
        "{\"workspacePath\":\"" + shared + "\"}",
        "{\"volumes\":[{\"type\":\"bind\",\"source\":\"/etc\",\"destination\":\"/x\"}]}");
  }

  @Test
  void hostAccessIsForbiddenUnlessTheOperatorAllowsIt() throws IOException {
    try (TestServer testServer = startServer(Map.of())) {
      for (String spec : specsWithHostAccess()) {
        for (String key : List.of(testServer.use, testServer.admin)) {
          TestClient.Response refused = testServer.client(key).post("/api/v1/sandboxes", spec);
          assertThat(refused.status()).as(spec + refused.text()).isEqualTo(403);
        }
        assertThat(testServer.client().post("/api/v1/sandboxes", spec).text())
            .contains(spec.equals(HOST) ? "allow_host_network" : "allow_host_folders");
      }
    }
  }

  @Test
  void allowedHostAccessRequiresScopeAdmin() throws IOException {
    try (TestServer testServer = startServer(allowed())) {
      for (String spec : specsWithHostAccess()) {
        TestClient.Response refused =
            testServer.client(testServer.use).post("/api/v1/sandboxes", spec);
        assertThat(refused.status()).as(spec + refused.text()).isEqualTo(403);
        assertThat(refused.text()).contains("scope admin");
        assertThat(testServer.client().post("/api/v1/sandboxes", spec).status())
            .as(spec)
            .isNotEqualTo(403);
      }
    }
  }

  @Test
  void sandboxOnTheHostNetworkRequiresScopeAdminOrAnAdminToken() throws Exception {
    try (TestServer testServer = startServer(allowed());
        ServerSocket service = new ServerSocket(0, 16, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> serve(service));
      TestClient admin = testServer.client();
      TestClient.Response made = admin.post("/api/v1/sandboxes", HOST);
      assertThat(made.status()).as(made.text()).isEqualTo(201);
      String sandbox = "/api/v1/sandboxes/" + made.field("id");
      String port = sandbox + "/ports/" + service.getLocalPort();
      TestClient use = testServer.client(testServer.use);
      String exec = "{\"command\":\"true\"}";

      assertThat(use.get(port + "/").status()).isEqualTo(403);
      assertThat(use.get(port).status()).as("connects to the port").isEqualTo(403);
      assertThat(use.post(sandbox + "/exec", exec).status()).isEqualTo(403);
      assertThat(use.post(sandbox + "/fork", "{}").status()).isEqualTo(403);
      assertThat(use.get(sandbox + "/files/content?path=/etc/hostname").status()).isEqualTo(403);
      assertThat(use.post(sandbox + "/tokens", token("use")).status()).isEqualTo(403);
      assertThat(use.post(port + "/link", "{\"ttlSeconds\":60}").status()).isEqualTo(403);
      assertThat(use.send("PUT", port, Map.of(), "{\"public\":true}".getBytes(UTF_8)).status())
          .isEqualTo(403);
      assertThat(use.get(sandbox).status()).as("describing it is allowed").isEqualTo(200);

      assertThat(admin.get(port + "/").text()).isEqualTo("the host's");
      String adminToken = admin.post(sandbox + "/tokens", token("use")).field("token");
      assertThat(testServer.client(adminToken).post(sandbox + "/exec", exec).status())
          .isEqualTo(200);
      assertThat(testServer.client(adminToken).get(port + "/").status()).isEqualTo(200);
      admin.delete(sandbox + "?force=true");
    }
  }

  /** A ceiling on the hosts is enforced by name, which mode bridge goes around. */
  @Test
  void networkModeBridgeNeedsTheOperatorAndNoLimitOfHosts() throws IOException {
    String bridge = "{\"network\":{\"mode\":\"bridge\"}}";
    String enabled = "{\"network\":{\"enabled\":true}}";
    String none = "{\"network\":{\"mode\":\"none\"}}";
    String modes = "none,filtered,bridge";
    Map<Map<String, String>, String> refusals =
        Map.of(
            Map.of(), "allow_networks",
            Map.of("allow_networks", "none"), "allow_networks",
            Map.of("allow_networks", modes, "egress.deny", "evil.example"), "egress.deny",
            Map.of("allow_networks", modes, "egress.limit_to", "*.example"), "egress.limit_to");
    for (Map.Entry<Map<String, String>, String> each : refusals.entrySet()) {
      try (TestServer testServer = startServer(each.getKey())) {
        for (String key : List.of(testServer.use, testServer.admin)) {
          for (String spec : List.of(bridge, enabled)) {
            TestClient.Response refused = testServer.client(key).post("/api/v1/sandboxes", spec);
            assertThat(refused.status()).as(each + refused.text()).isEqualTo(403);
            assertThat(refused.text()).contains(each.getValue());
          }
        }
      }
    }
    try (TestServer testServer = startServer(Map.of("allow_networks", modes))) {
      assertThat(testServer.client().post("/api/v1/sandboxes", bridge).text())
          .as("allowed, but this provider has no such network")
          .doesNotContain("FORBIDDEN");
    }
    try (TestServer testServer = startServer(Map.of("allow_networks", "bridge"))) {
      assertThat(testServer.client().post("/api/v1/sandboxes", none).text())
          .doesNotContain("FORBIDDEN");
    }
  }

  @Test
  void limitOfHostsExcludesTheNetworkOfTheHost() throws IOException {
    Map<String, String> settings = allowed();
    settings.put("egress.deny", "evil.example");
    try (TestServer testServer = startServer(settings)) {
      TestClient.Response refused = testServer.client().post("/api/v1/sandboxes", HOST);
      assertThat(refused.status()).as(refused.text()).isEqualTo(403);
      assertThat(refused.text()).contains("egress.deny");
    }
  }

  /** What runs in such a sandbox is the administrator's: its output and commands, too. */
  @Test
  void readKeySeesNothingInsideASandboxWithFoldersOfTheHost() throws IOException {
    try (TestServer testServer = startServer(allowed())) {
      TestClient admin = testServer.client();
      String spec = specsWithHostAccess().get(1);
      String sandbox = "/api/v1/sandboxes/" + admin.post("/api/v1/sandboxes", spec).field("id");
      String execution =
          admin.post(sandbox + "/executions", "{\"command\":\"echo planted-output\"}").field("id");
      TestClient read = testServer.client(testServer.read);
      for (String path :
          List.of(
              "/executions",
              "/executions/" + execution,
              "/executions/" + execution + "/output",
              "/files?path=.",
              "/files/tree?path=.",
              "/files/glob?path=.&pattern=*")) {
        TestClient.Response refused = read.get(sandbox + path);
        assertThat(refused.status()).as(path + refused.text()).isEqualTo(403);
        assertThat(refused.text()).doesNotContain("planted");
      }
      assertThat(read.get(sandbox + "/status").status()).isEqualTo(200);
      admin.delete(sandbox + "?force=true");
    }
  }

  /** A route with another name than before would be open to read keys again, or closed for them. */
  @Test
  void descriptionsAreRoutesThatRead() {
    try (TestServer testServer = startServer(Map.of())) {
      List<String> described =
          testServer.routes.all().stream()
              .filter(route -> HostAccessGuard.DESCRIPTIONS.contains(route.name()))
              .peek(route -> assertThat(route.scope()).contains(Scope.READ))
              .map(Route::name)
              .filter(name -> !name.startsWith("e2b"))
              .toList();
      assertThat(described)
          .containsExactlyInAnyOrderElementsOf(
              HostAccessGuard.DESCRIPTIONS.stream()
                  .filter(name -> !name.startsWith("e2b"))
                  .toList());
    }
  }

  private static String token(String scope) {
    return "{\"scope\":\"" + scope + "\",\"ttlSeconds\":60}";
  }

  /** Serves a port of the host's loopback interface. */
  private static void serve(ServerSocket service) {
    while (!service.isClosed()) {
      try (Socket socket = service.accept();
          OutputStream out = socket.getOutputStream()) {
        socket.getInputStream().read();
        out.write(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nthe host's"
                .getBytes(UTF_8));
      } catch (IOException closed) {
        // The test has ended, or the client disconnected.
      }
    }
  }
}
