package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.TestSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A1: ports of sandboxes that E2B's clients create respond as E2B's proxy does. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class E2bPortsTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private TestSite site;

  @BeforeAll
  void open() throws IOException {
    testServer =
        E2bTestServer.open(
            folder.resolve("processes"),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of("shutdown", "drain"));
    site = new TestSite();
  }

  @BeforeEach
  void reset() {
    site.respondWith("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  }

  @AfterAll
  void close() throws IOException {
    site.close();
    testServer.close();
  }

  private static TestClient.Response send(
      TestServer server, String method, String path, String body) throws IOException {
    return server
        .client("")
        .send(
            method,
            path,
            Map.of("X-API-KEY", server.admin, "Content-Type", "application/json"),
            body.getBytes(UTF_8));
  }

  private static TestClient.Response create(TestServer server, String more) throws IOException {
    TestClient.Response made =
        send(
            server,
            "POST",
            "/v2/sandboxes",
            "{\"templateID\":\"host\",\"timeout\":300" + more + "}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return made;
  }

  private TestClient.Response create(String more) throws IOException {
    return create(testServer, more);
  }

  private void kill(String id) throws IOException {
    assertThat(send(testServer, "DELETE", "/sandboxes/" + id, "").status()).isEqualTo(204);
  }

  private static TestClient.Response get(
      TestServer server, int port, String id, Map<String, String> more) throws IOException {
    Map<String, String> headers = new HashMap<>(more);
    headers.putIfAbsent("Host", port + "-" + id + ".localhost:" + server.server.port());
    return server.client("").send("GET", "/", headers, new byte[0]);
  }

  private TestClient.Response get(int port, String id, Map<String, String> more)
      throws IOException {
    return get(testServer, port, id, more);
  }

  private static Map<String, Object> missing(String id) {
    return Map.of("message", "The sandbox was not found", "sandboxId", id, "code", 502);
  }

  @Test
  void killedAndUnknownSandboxesAreNotFound() throws IOException {
    String id = create("").field("sandboxID");
    assertThat(get(site.port(), id, Map.of()).text()).isEqualTo("hello");
    kill(id);
    String never = "neverwas0neverwas0ne";
    for (String gone : List.of(id, never)) {
      TestClient.Response byHost = get(site.port(), gone, Map.of());
      assertThat(byHost.status()).isEqualTo(502);
      assertThat(byHost.type()).isEqualTo("application/json");
      assertThat(byHost.json()).isEqualTo(missing(gone));
      Map<String, String> named =
          Map.of(
              "Host",
              "localhost",
              "E2b-Sandbox-Id",
              gone,
              "E2b-Sandbox-Port",
              Integer.toString(site.port()));
      assertThat(get(site.port(), gone, named).json()).as("by headers").isEqualTo(missing(gone));
    }
  }

  @Test
  void closedPortIsReportedWithItsNumber() throws IOException {
    String id = create("").field("sandboxID");
    TestClient.Response closed = get(1, id, Map.of());
    assertThat(closed.status()).isEqualTo(502);
    assertThat(closed.json())
        .isEqualTo(
            Map.of(
                "message",
                "The sandbox is running but port is not open",
                "sandboxId",
                id,
                "port",
                1,
                "code",
                502));
    kill(id);
  }

  @Test
  void privatePortNeedsTheTrafficToken() throws IOException {
    TestClient.Response made = create(",\"network\":{\"allowPublicTraffic\":false}");
    String id = made.field("sandboxID");
    String other =
        create(",\"network\":{\"allowPublicTraffic\":false}").field("trafficAccessToken");
    String header = "e2b-traffic-access-token";
    for (Map<String, String> wrong :
        List.of(Map.<String, String>of(), Map.of(header, "wrong"), Map.of(header, other))) {
      TestClient.Response refused = get(site.port(), id, wrong);
      assertThat(refused.status()).as(wrong.toString()).isEqualTo(403);
      assertThat(refused.json()).containsEntry("code", 403).containsEntry("sandboxId", id);
      assertThat(refused.field("message")).contains(header);
      assertThat(get(1, id, wrong).status()).as("a closed port").isEqualTo(403);
    }
    assertThat(site.heads()).isEmpty();
    Map<String, String> right = Map.of(header, made.field("trafficAccessToken"));
    assertThat(get(site.port(), id, right).text()).isEqualTo("hello");
    assertThat(get(1, id, right).status()).isEqualTo(502);
    kill(id);
    assertThat(get(site.port(), id, Map.of()).json()).isEqualTo(missing(id));
  }

  /** The provider of this test pauses sandboxes, but does not connect to ports. */
  @Test
  void pausedSandboxIsNotFoundUnlessTrafficResumesIt() throws IOException {
    try (TestServer pausing = E2bTestServer.open(folder.resolve("pausing"))) {
      String resume = ",\"autoPause\":true,\"autoResume\":{\"enabled\":true}";
      String manual = create(pausing, "").field("sandboxID");
      String automatic = create(pausing, resume).field("sandboxID");
      String guarded =
          create(pausing, resume + ",\"network\":{\"allowPublicTraffic\":false}")
              .field("sandboxID");
      for (String id : List.of(manual, automatic, guarded)) {
        assertThat(send(pausing, "POST", "/sandboxes/" + id + "/pause", "{}").status())
            .isEqualTo(204);
      }
      assertThat(get(pausing, 80, manual, Map.of()).json()).isEqualTo(missing(manual));
      assertThat(get(pausing, 80, guarded, Map.of()).status()).isEqualTo(403);
      assertThat(get(pausing, 80, automatic, Map.of()).status()).isEqualTo(501);
      assertThat(state(pausing, manual)).isEqualTo("paused");
      assertThat(state(pausing, guarded))
          .as("a request without the token does not resume it")
          .isEqualTo("paused");
      assertThat(state(pausing, automatic)).isEqualTo("running");
    }
  }

  private static String state(TestServer server, String id) throws IOException {
    return send(server, "GET", "/sandboxes/" + id, "").field("state");
  }

  @Test
  void otherSandboxesKeepTheErrorsOfTheNativeApi() throws IOException {
    String id = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
    TestClient.Response anonymous = get(site.port(), id, Map.of());
    assertThat(anonymous.status()).isEqualTo(401);
    assertThat(anonymous.type()).isEqualTo("application/problem+json");
    Map<String, String> key = Map.of("Authorization", "Bearer " + testServer.use);
    assertThat(get(1, id, key).field("code")).isEqualTo("PORT_NOT_OPEN");
    assertThat(get(1, "neverwas", key).field("code")).isEqualTo("SANDBOX_NOT_FOUND");
    testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
  }

  @Test
  void guestProcessReceivesTheMaskedHost() throws IOException {
    String id =
        create(",\"network\":{\"maskRequestHost\":\"${PORT}-app.example.com:80\"}")
            .field("sandboxID");
    String asked = site.port() + "-" + id + ".localhost:" + testServer.server.port();
    assertThat(get(site.port(), id, Map.of()).text()).isEqualTo("hello");
    assertThat(site.lastHead())
        .containsOnlyOnce("\r\nHost: " + site.port() + "-app.example.com:80\r\n")
        .contains("X-Forwarded-Host: " + asked + "\r\n")
        .doesNotContain("Host: " + asked + "\r\nHost", "${PORT}");
    kill(id);
  }

  @Test
  void maskedHostThatIsNoHostNameIsRejected() throws IOException {
    for (String mask :
        List.of(
            "a\\r\\nX-Evil: 1",
            "a b",
            "a/b",
            "a:b",
            "user@a",
            "${HOME}",
            ".a",
            "a:123456",
            "b\\u00e4r.example",
            "a".repeat(256))) {
      TestClient.Response refused =
          send(
              testServer,
              "POST",
              "/v2/sandboxes",
              "{\"templateID\":\"host\",\"network\":{\"maskRequestHost\":\"" + mask + "\"}}");
      assertThat(refused.status()).as(mask).isEqualTo(400);
      assertThat(refused.field("message")).contains("maskRequestHost");
    }
  }
}
