package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** A1, A3: a web server in a sandbox without network, accessed by a browser. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PreviewBrowserTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int PORT = 8123;

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private String id = "";

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new BubblewrapProviderFactory());
    client = testServer.client();
    String script;
    try (InputStream in =
        Objects.requireNonNull(getClass().getResourceAsStream("/preview/site.py"))) {
      script = new String(in.readAllBytes(), UTF_8);
    }
    Map<String, Object> spec =
        Map.of(
            "network", Map.of("mode", "none"),
            "autoResume", true,
            "seedFiles", Map.of("site.py", script));
    TestClient.Response made =
        client.post("/api/v1/sandboxes", new JsonMapper().writeValueAsString(spec));
    Assumptions.assumeTrue(
        made.status() == 201, () -> "bubblewrap does not work here: " + made.text());
    id = made.field("id");
    TestClient.Response started =
        client.post(
            sandbox() + "/executions", "{\"argv\":[\"python3\",\"site.py\",\"" + PORT + "\"]}");
    Assumptions.assumeTrue(
        started.status() == 201, () -> "there is no python3 in the sandbox: " + started.text());
    await().atMost(SOON).until(() -> client.get(prefix() + "/part.js").status() == 200);
  }

  @AfterAll
  void close() throws IOException {
    if (!id.isEmpty()) {
      client.delete(sandbox() + "?force=true");
    }
    testServer.close();
  }

  private String sandbox() {
    return "/api/v1/sandboxes/" + id;
  }

  private String prefix() {
    return sandbox() + "/ports/" + PORT;
  }

  @Test
  void authenticatedTrafficResumesAPausedSandbox() throws IOException {
    TestClient.Response paused = client.post(sandbox() + "/pause", "");
    Assumptions.assumeTrue(
        paused.status() == 200, () -> "sandboxes cannot be paused here: " + paused.text());
    assertThat(testServer.client("").get(prefix() + "/").status()).isEqualTo(401);
    assertThat(client.get(sandbox()).json())
        .as("not resumed by an unauthenticated request")
        .containsEntry("state", "paused");
    assertThat(client.get(prefix() + "/part.js").text()).contains("part");
    assertThat(client.get(sandbox()).json()).containsEntry("state", "running");
  }

  @Test
  void trafficDoesNotResumeASandboxWithoutAutoResume() throws IOException {
    String other = client.post("/api/v1/sandboxes", "{}").field("id");
    try {
      TestClient.Response paused = client.post("/api/v1/sandboxes/" + other + "/pause", "");
      Assumptions.assumeTrue(
          paused.status() == 200, () -> "sandboxes cannot be paused here: " + paused.text());
      TestClient.Response asleep = client.get("/api/v1/sandboxes/" + other + "/ports/80/");
      assertThat(asleep.status()).isEqualTo(409);
      assertThat(asleep.field("remedy")).contains("autoResume");
      assertThat(client.get("/api/v1/sandboxes/" + other).json()).containsEntry("state", "paused");
    } finally {
      client.delete("/api/v1/sandboxes/" + other + "?force=true");
    }
  }

  @Test
  void browserLoadsPagesStreamsAndWebSockets() throws Exception {
    Path program =
        Browser.installed()
            .orElseGet(() -> Assumptions.abort("chromium is not installed (apt: chromium)"));
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-browser-");
        Browser browser = new Browser(program, scratch.path())) {
      String api = "http://localhost:" + client.port() + "/healthz";
      String link = client.post(prefix() + "/link", "{\"ttlSeconds\":600}").field("url");
      browser.open(link + "&api=" + api);
      assertThat(browser.shows("part", "socket:", "events:", "api:"))
          .contains("socket:ping pong", "events:3", "origin:own", "cookie:false", "api:refused");
      assertThat(browser.evaluate("location.href")).doesNotContain("isola_token");

      // Another host requires its own link, because the cookie is limited to one host.
      browser.open("http://" + PORT + "-" + id + ".localhost:" + client.port() + "/again");
      browser.shows("part");
      browser.open("http://8124-" + id + ".localhost:" + client.port() + "/");
      browser.shows("UNAUTHENTICATED");

      // In path form the page has an opaque origin and cannot access the server's API.
      client.send("PUT", prefix(), Map.of(), "{\"public\":true}".getBytes(UTF_8));
      browser.open("http://localhost:" + client.port() + prefix() + "/?api=/api/v1/openapi.json");
      assertThat(browser.shows("part", "socket:", "events:", "api:"))
          .contains("origin:none", "cookie:refused", "api:refused", "socket:ping pong");
    } finally {
      client.send("PUT", prefix(), Map.of(), "{\"public\":false}".getBytes(UTF_8));
    }
  }
}
