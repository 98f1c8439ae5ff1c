package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sandboxes that need no token, for the first versions of E2B's clients: which sandboxes these are,
 * and what other clients cannot do with them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
class E2bInsecureTest {
  /** The test provider then declares the isolation of a container. */
  private static final Map<String, String> CONTAINER =
      Map.of("providers.test.fault", "RUNS_ON_THE_BARE_HOST");

  private static final String INSECURE = "{\"templateID\":\"host\",\"timeout\":300}";
  private static final String LIST = "/process.Process/List";

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient.Response made;
  private String sandbox;

  @BeforeAll
  void open() throws IOException {
    testServer =
        E2bTestServer.openInsecure(
            folder.resolve("shared"), new TestProviderFactory(), CONTAINER, NetworkMode.NONE);
    made = create(testServer, "/sandboxes", INSECURE);
    sandbox = made.field("sandboxID");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static TestClient.Response control(
      TestServer server, String method, String path, String body) throws IOException {
    return server
        .client("")
        .send(
            method,
            path,
            Map.of("X-API-KEY", server.admin, "Content-Type", "application/json"),
            body.getBytes(UTF_8));
  }

  private static TestClient.Response create(TestServer server, String path, String body)
      throws IOException {
    TestClient.Response response = control(server, "POST", path, body);
    assertThat(response.status()).as(response.text()).isEqualTo(201);
    return response;
  }

  /** Sends a request to envd by the name of its host, as the first clients do. */
  private static TestClient.Response envd(
      TestServer server, String name, String method, String path, Map<String, String> more)
      throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", "49983-" + name + ".localhost:" + server.server.port());
    headers.put(
        "Authorization", "Basic " + Base64.getEncoder().encodeToString("user:".getBytes(UTF_8)));
    headers.put("Content-Type", "application/json");
    headers.putAll(more);
    byte[] body = method.equals("POST") ? "{}".getBytes(UTF_8) : new byte[0];
    return server.client("").send(method, path, headers, body);
  }

  private TestClient.Response envd(String name, String method, String path) throws IOException {
    return envd(testServer, name, method, path, Map.of());
  }

  /** Asserts the status of a request without a token to each kind of route. */
  private static void assertEnvd(
      TestServer server, String name, Map<String, String> headers, int status) throws IOException {
    String file = "/files?path=/workspace/probe";
    Map<String, String> bytes = new LinkedHashMap<>(headers);
    bytes.put("Content-Type", "application/octet-stream");
    assertThat(
            List.of(
                envd(server, name, "POST", file, bytes).status(),
                envd(server, name, "GET", file, headers).status(),
                envd(server, name, "GET", "/envs", headers).status(),
                envd(server, name, "POST", LIST, headers).status()))
        .as("%s with %s", name, headers)
        .containsOnly(status);
  }

  @Test
  void insecureSandboxIsUsedWithoutAToken() throws IOException {
    assertEnvd(testServer, sandbox + "-isola", Map.of(), 200);
    assertEnvd(testServer, sandbox, Map.of(), 200);
    assertThat(envd(sandbox + "-isola", "GET", "/health").status()).isEqualTo(204);
    byte[] start =
        "{\"process\":{\"cmd\":\"/bin/sh\",\"args\":[\"-c\",\"exit 3\"]}}".getBytes(UTF_8);
    TestClient.Response ran =
        testServer
            .client("")
            .send(
                "POST",
                "/process.Process/Start",
                Map.of(
                    "Host",
                    "49983-" + sandbox + "-isola.localhost",
                    "Content-Type",
                    "application/connect+json"),
                ByteBuffer.allocate(5 + start.length)
                    .put((byte) 0)
                    .putInt(start.length)
                    .put(start)
                    .array());
    assertThat(ran.text()).contains("\"exitCode\":3");
    assertThat(testServer.requests)
        .filteredOn(line -> line.route().endsWith("/Start") || line.route().endsWith("/files"))
        .extracting(line -> line.key())
        .contains("(no token)");
    assertThat(control(testServer, "GET", "/sandboxes/" + sandbox, "").json())
        .containsEntry("metadata", Map.of());
  }

  @Test
  void wrongCredentialIsRefusedWhereNoneIsNeeded() throws Exception {
    String token = made.field("envdAccessToken");
    for (String wrong : List.of("wrong", "", testServer.admin)) {
      assertEnvd(testServer, sandbox, Map.of("X-Access-Token", wrong), 401);
    }
    assertEnvd(testServer, sandbox, Map.of("X-Access-Token", token), 200);
    String path = "/files?path=/workspace/signed&signature=";
    assertThat(envd(sandbox, "POST", path + "v1_wrong").status()).isEqualTo(401);
    byte[] hash =
        MessageDigest.getInstance("SHA-256")
            .digest(("/workspace/signed:write::" + token).getBytes(UTF_8));
    String signature = "v1_" + Base64.getEncoder().withoutPadding().encodeToString(hash);
    assertThat(
            envd(
                    testServer,
                    sandbox,
                    "POST",
                    path + URLEncoder.encode(signature, UTF_8),
                    Map.of("Content-Type", "application/octet-stream"))
                .status())
        .isEqualTo(200);
  }

  @Test
  void otherSandboxesNeedTheirToken() throws IOException {
    String secure = INSECURE.replace("}", ",\"secure\":true}");
    String said = INSECURE.replace("}", ",\"secure\":false}");
    Map<String, String> needing = new LinkedHashMap<>();
    needing.put("secure", create(testServer, "/sandboxes", secure).field("sandboxID"));
    needing.put("version 2", create(testServer, "/v2/sandboxes", said).field("sandboxID"));
    needing.put("native", testServer.client().post("/api/v1/sandboxes", "{}").field("id"));
    String forked = control(testServer, "POST", "/sandboxes/" + sandbox + "/fork", "{}").text();
    needing.put("fork", forked.replaceFirst("(?s).*\"sandboxID\":\"([a-z0-9]+)\".*", "$1"));
    needing.put("unknown", "neverwas0neverwas0ne");
    for (Map.Entry<String, String> one : needing.entrySet()) {
      assertThat(one.getValue()).as(one.getKey()).matches("[a-z0-9]{20}").isNotEqualTo(sandbox);
      assertEnvd(testServer, one.getValue(), Map.of(), 401);
      assertEnvd(testServer, one.getValue() + "-isola", Map.of(), 401);
    }
  }

  @Test
  void onlyEnvdOfAnInsecureSandboxIsOpen() throws IOException {
    TestClient none = testServer.client("");
    assertThat(none.get("/sandboxes/" + sandbox).status()).isEqualTo(401);
    assertThat(none.delete("/sandboxes/" + sandbox + "-isola").status()).isEqualTo(401);
    assertThat(none.get("/api/v1/sandboxes/" + sandbox).status()).isEqualTo(401);
    String closed = INSECURE.replace("}", ",\"network\":{\"allowPublicTraffic\":false}}");
    String id = create(testServer, "/sandboxes", closed).field("sandboxID");
    assertEnvd(testServer, id, Map.of(), 200);
    assertThat(
            none.send("GET", "/", Map.of("Host", "8000-" + id + "-isola.localhost"), new byte[0])
                .status())
        .as("private port")
        .isEqualTo(403);
  }

  @Test
  void idMayHaveTheSuffixOfTheClientOnly() throws IOException {
    assertThat(control(testServer, "GET", "/sandboxes/" + sandbox + "-isola", "").status())
        .isEqualTo(200);
    assertThat(
            control(
                    testServer,
                    "POST",
                    "/sandboxes/" + sandbox + "-isola/timeout",
                    "{\"timeout\":300}")
                .status())
        .isEqualTo(204);
    for (String wrong : List.of("-other", "-isola-isola", "-", "isola", "-" + sandbox, "-ISOLAX")) {
      assertThat(control(testServer, "GET", "/sandboxes/" + sandbox + wrong, "").status())
          .as(wrong)
          .isEqualTo(404);
    }
    for (String wrong : List.of("-other", "-isola-isola", "-", "-" + sandbox, "-isola.x")) {
      assertEnvd(testServer, sandbox + wrong, Map.of(), 403);
    }
    assertThat(testServer.client().get("/api/v1/sandboxes/" + sandbox + "-isola").status())
        .as("the native API has no suffix")
        .isEqualTo(400);
    assertThat(
            testServer
                .client("")
                .send(
                    "GET",
                    "/files?path=/workspace/probe",
                    Map.of("E2b-Sandbox-Id", sandbox + "-isola"),
                    new byte[0])
                .status())
        .as("headers have no suffix")
        .isEqualTo(401);
  }

  @Test
  void pageInABrowserCannotUseAnInsecureSandbox() throws IOException {
    String name = sandbox + "-isola";
    String domain = ".localhost:" + testServer.server.port();
    for (String origin :
        List.of(
            "https://evil.example",
            "null",
            "http://8000-" + name + domain,
            "http://49983-" + sandbox + domain,
            "http://localhost:" + testServer.server.port())) {
      assertEnvd(testServer, name, Map.of("Origin", origin), 403);
    }
    assertEnvd(testServer, name, Map.of("Origin", "http://49983-" + name + domain), 401);
    for (String site : List.of("cross-site", "same-site", "same-origin", "none")) {
      assertEnvd(testServer, name, Map.of("Sec-Fetch-Site", site), 401);
    }
    Map<String, String> preflight =
        Map.of("Origin", "https://evil.example", "Access-Control-Request-Method", "POST");
    TestClient.Response options = envd(testServer, name, "OPTIONS", LIST, preflight);
    assertThat(options.status()).isEqualTo(403);
    assertThat(options.headers()).doesNotContainKey("access-control-allow-origin");
    assertThat(
            testServer
                .client("")
                .send(
                    "GET", "/envs", Map.of("Host", "49983-" + name + ".evil.example"), new byte[0])
                .status())
        .as("DNS rebinding")
        .isEqualTo(403);
  }

  @Test
  void settingOffMeansEverySandboxNeedsItsToken() throws IOException {
    Path data = folder.resolve("restarted");
    TestServer first =
        E2bTestServer.openInsecure(data, new TestProviderFactory(), CONTAINER, NetworkMode.NONE);
    String id = create(first, "/sandboxes", INSECURE).field("sandboxID");
    assertEnvd(first, id, Map.of(), 200);
    first.stop();
    try (TestServer second =
        E2bTestServer.open(
            data, new TestProviderFactory(), context -> HttpServerOptions.NONE, CONTAINER)) {
      TestClient.Response later = create(second, "/sandboxes", INSECURE);
      for (String one : List.of(id, later.field("sandboxID"))) {
        assertEnvd(second, one, Map.of(), 401);
        assertEnvd(second, one + "-isola", Map.of(), 401);
      }
      Map<String, String> token = Map.of("X-Access-Token", later.field("envdAccessToken"));
      assertEnvd(second, later.field("sandboxID") + "-isola", token, 200);
    }
  }

  @Test
  void sandboxWithAccessToTheHostNeedsItsToken() throws IOException {
    Map<String, String> hostNetwork = new LinkedHashMap<>(CONTAINER);
    hostNetwork.put("allow_host_network", "true");
    try (TestServer server =
        E2bTestServer.openInsecure(
            folder.resolve("host"), new TestProviderFactory(), hostNetwork, NetworkMode.HOST)) {
      TestClient.Response onHost = create(server, "/sandboxes", INSECURE);
      assertEnvd(server, onHost.field("sandboxID"), Map.of(), 401);
      Map<String, String> token = Map.of("X-Access-Token", onHost.field("envdAccessToken"));
      assertEnvd(server, onHost.field("sandboxID"), token, 200);
    }
  }

  @Test
  void sandboxWithoutIsolationNeedsItsToken() throws IOException {
    try (TestServer server =
        E2bTestServer.openInsecure(
            folder.resolve("process"), new TestProviderFactory(), Map.of(), NetworkMode.NONE)) {
      assertEnvd(server, create(server, "/sandboxes", INSECURE).field("sandboxID"), Map.of(), 401);
    }
  }
}
