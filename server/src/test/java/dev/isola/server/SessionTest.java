package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Log;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.auth.Scope;
import dev.isola.server.limit.RequestLimits;
import dev.isola.server.route.Route;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** D1, D2: sessions of browsers, and what pages of other origins cannot do with them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SessionTest {
  private static final String SESSION = "/api/v1/session";
  private static final String SANDBOXES = "/api/v1/sandboxes";
  private static final Map<String, String> SAME = Map.of("Sec-Fetch-Site", "same-origin");

  @TempDir static Path folder;
  private AuditLog audit;
  private TestServer testServer;
  private TestClient browser;
  private String id;

  @BeforeAll
  void open() throws IOException {
    Log log =
        new Log() {
          @Override
          public void info(String sentence) {}

          @Override
          public void warning(String sentence) {
            throw new AssertionError(sentence);
          }
        };
    audit = AuditLog.open(folder.resolve("audit"), 1 << 20, true, InstantSource.system(), log);
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context ->
                new HttpServerOptions(
                    Optional.empty(),
                    new RequestLimits(0, 1, 1000, 0, 0),
                    List.of(audit),
                    Optional::empty),
            Map.of());
    browser = testServer.client("");
    id = testServer.client().post(SANDBOXES, "{\"env\":{\"A\":\"hunter1\"}}").field("id");
  }

  @AfterAll
  void close() throws IOException {
    testServer.client().delete(SANDBOXES + "/" + id + "?force=true");
    testServer.close();
    audit.close();
  }

  /** Signs in and returns the cookie as NAME=VALUE. */
  private String signIn(String key) throws IOException {
    TestClient.Response answer = browser.post(SESSION, "{\"key\":\"" + key + "\"}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.headers().getOrDefault("set-cookie", "").split(";", 2)[0];
  }

  private String token(String scope) throws IOException {
    return testServer
        .client(testServer.use)
        .post(SANDBOXES + "/" + id + "/tokens", "{\"scope\":\"" + scope + "\",\"ttlSeconds\":600}")
        .field("token");
  }

  private TestClient.Response send(
      String method, String path, String cookie, Map<String, String> more, String body)
      throws IOException {
    Map<String, String> headers = new LinkedHashMap<>(Map.of("Cookie", cookie));
    headers.putAll(more);
    return browser.send(method, path, headers, body.getBytes(UTF_8));
  }

  private TestClient.Response get(String path, String cookie, Map<String, String> more)
      throws IOException {
    return send("GET", path, cookie, more, "");
  }

  private String origin() {
    return "http://127.0.0.1:" + browser.port();
  }

  @Test
  void keyIsExchangedForACookieThatScriptsCannotRead() throws IOException {
    TestClient.Response answer = browser.post(SESSION, "{\"key\":\"" + testServer.use + "\"}");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.json())
        .containsEntry("actor", "use")
        .containsEntry("scope", "use")
        .containsEntry("version", "test")
        .doesNotContainKey("sandbox");
    assertThat(Instant.parse(answer.field("expiresAt")))
        .isBetween(
            Instant.now().plus(Duration.ofHours(11)), Instant.now().plus(Duration.ofHours(13)));
    assertThat(answer.headers().get("set-cookie"))
        .matches(
            "isola_session_"
                + browser.port()
                + "=[0-9a-f]{64}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict");
    assertThat(answer.text()).doesNotContain(testServer.use);
    String cookie = answer.headers().getOrDefault("set-cookie", "").split(";", 2)[0];
    assertThat(get(SESSION, cookie, SAME).json()).isEqualTo(answer.json());
  }

  @Test
  void sessionHasTheScopeOfItsKey() throws IOException {
    String read = signIn(testServer.read);
    assertThat(get(SANDBOXES + "/" + id, read, SAME).text())
        .contains("***")
        .doesNotContain("hunter");
    assertThat(send("POST", SANDBOXES + "/" + id + "/exec", read, SAME, "{}").status())
        .isEqualTo(403);
    assertThat(get("/api/v1/keys", signIn(testServer.use), SAME).status()).isEqualTo(403);
    assertThat(get("/api/v1/keys", signIn(testServer.admin), SAME).status()).isEqualTo(200);
  }

  @Test
  void requestOfAnotherOriginHasNoSession() throws IOException {
    String cookie = signIn(testServer.admin);
    String own = "127.0.0.1:" + browser.port();
    List<Map<String, String>> refused = new ArrayList<>();
    refused.add(Map.of());
    for (String site : List.of("same-site", "cross-site", "none", "", "SAME-ORIGIN-")) {
      refused.add(Map.of("Sec-Fetch-Site", site));
      refused.add(Map.of("Sec-Fetch-Site", site, "Origin", origin()));
    }
    refused.add(Map.of("Sec-Fetch-Site", "same-origin\r\nSec-Fetch-Site: same-site"));
    for (String origin :
        List.of(
            "null",
            "https://" + own,
            "http://127.0.0.1",
            "http://127.0.0.1:1",
            "http://localhost:" + browser.port(),
            "http://api.localhost:" + browser.port(),
            "http://8000-" + id + ".localhost:" + browser.port(),
            "http://isola.example",
            origin() + "/",
            origin() + ".evil.example",
            origin() + "\r\nOrigin: http://localhost:" + browser.port())) {
      refused.add(Map.of("Origin", origin));
      if (!origin.equals("https://" + own)) {
        refused.add(Map.of("Origin", origin, "Sec-Fetch-Site", "same-origin"));
      }
    }
    for (Map<String, String> headers : refused) {
      for (String method : List.of("GET", "POST")) {
        TestClient.Response answer = send(method, SANDBOXES, cookie, headers, "");
        assertThat(answer.status()).as(method + " " + headers).isIn(401, 403);
      }
      assertThat(send("DELETE", SESSION, cookie, headers, "").status())
          .as("DELETE " + headers)
          .isIn(401, 403);
    }
    for (Map<String, String> headers :
        List.of(
            SAME,
            Map.of("Origin", origin()),
            Map.of("Origin", origin(), "Sec-Fetch-Site", "same-origin"),
            // A proxy in front of the server ends TLS.
            Map.of("Origin", "https://" + own, "Sec-Fetch-Site", "same-origin"))) {
      assertThat(get(SANDBOXES, cookie, headers).status()).as("" + headers).isEqualTo(200);
    }
  }

  @Test
  void everyRouteNeedsTheSameOrigin() throws IOException {
    String cookie = signIn(testServer.admin);
    int checked = 0;
    for (Route route : testServer.routes.nativeRoutes()) {
      if (route.scope().isEmpty() || route.body() instanceof Route.Body.Forwarded) {
        continue;
      }
      String path =
          route.template().replace("{port}", "8000").replaceAll("\\{[a-z]+}", "missing") + "?x=1";
      assertThat(send(route.method(), path, cookie, Map.of(), "").status())
          .as(route.name())
          .isEqualTo(401);
      assertThat(
              send(route.method(), path, cookie, Map.of("Sec-Fetch-Site", "same-site"), "")
                  .status())
          .as(route.name())
          .isEqualTo(401);
      assertThat(send(route.method(), path, cookie, SAME, "").status())
          .as(route.name())
          .isEqualTo(400);
      checked++;
    }
    assertThat(checked).isGreaterThan(60);
  }

  @Test
  void pageOfAnotherOriginCannotSignABrowserIn() throws IOException {
    byte[] body = ("{\"key\":\"" + testServer.read + "\"}").getBytes(UTF_8);
    for (Map<String, String> headers :
        List.of(
            Map.of("Origin", "http://localhost:3000"),
            Map.of("Origin", "null"),
            Map.of("Sec-Fetch-Site", "same-site"),
            Map.of("Sec-Fetch-Site", "cross-site"))) {
      TestClient.Response answer = browser.send("POST", SESSION, headers, body);
      assertThat(answer.status()).as("" + headers).isEqualTo(403);
      assertThat(answer.headers()).doesNotContainKey("set-cookie");
    }
  }

  @Test
  void invalidCredentialGetsNoSession() throws IOException {
    String preview = token("preview");
    for (String body :
        List.of(
            "{\"key\":\"isk_" + "0".repeat(64) + "\"}",
            "{\"key\":\"" + testServer.keys.all().getFirst().hash() + "\"}",
            "{\"token\":\"ist_x.y\"}",
            "{\"token\":\"" + token("use").replace(".", ".A") + "\"}")) {
      TestClient.Response answer = browser.post(SESSION, body);
      assertThat(answer.status()).as(answer.text()).isEqualTo(401);
      assertThat(answer.field("code")).isEqualTo("UNAUTHENTICATED");
      assertThat(answer.headers()).doesNotContainKey("set-cookie");
    }
    assertThat(browser.post(SESSION, "{\"token\":\"" + preview + "\"}").status()).isEqualTo(403);
    for (String body :
        List.of("{}", "{\"key\":\"" + testServer.use + "\",\"token\":\"" + preview + "\"}")) {
      assertThat(browser.post(SESSION, body).status()).as(body).isEqualTo(400);
    }
  }

  @Test
  void failedSignInsBlockFurtherOnesOfTheAddressAndNoValidKey() throws IOException {
    try (TestServer limited =
        new TestServer(
            folder.resolve("limited"),
            Duration.ofSeconds(30),
            context ->
                new HttpServerOptions(
                    Optional.empty(), new RequestLimits(0, 1, 3, 0, 0), List.of(), Optional::empty),
            Map.of())) {
      TestClient client = limited.client("");
      for (int i = 0; i < 3; i++) {
        assertThat(client.post(SESSION, "{\"key\":\"isk_" + i + "\"}").status()).isEqualTo(401);
      }
      assertThat(client.post(SESSION, "{\"key\":\"isk_4\"}").status()).isEqualTo(429);
      assertThat(client.post(SESSION, "{\"key\":\"" + limited.admin + "\"}").status())
          .isEqualTo(200);
    }
  }

  @Test
  void invalidCookieIsNoSession() throws IOException {
    String cookie = signIn(testServer.admin);
    String name = cookie.substring(0, cookie.indexOf('='));
    String secret = cookie.substring(cookie.indexOf('=') + 1);
    for (String bad :
        List.of(
            name + "=",
            name + "=" + "0".repeat(64),
            name + "=" + testServer.admin,
            "isola_session=" + secret,
            "__Host-" + name + "=" + secret,
            "isola_session_1=" + secret,
            "x" + cookie,
            cookie + "0",
            // Another page has set a second one; no request tells which is meant.
            cookie + "; " + signIn(testServer.read))) {
      assertThat(get(SANDBOXES, bad, SAME).status()).as(bad).isEqualTo(401);
    }
    assertThat(get(SANDBOXES, "a=b; " + cookie + "; " + name + "=planted", SAME).status())
        .as("beside an invalid one")
        .isEqualTo(200);
  }

  @Test
  void keyTakesPrecedenceOverTheSession() throws IOException {
    String cookie = signIn(testServer.admin);
    TestClient.Response answer =
        testServer
            .client(testServer.read)
            .send(
                "GET",
                SESSION,
                Map.of("Cookie", cookie, "Sec-Fetch-Site", "same-origin"),
                new byte[0]);
    assertThat(answer.json()).containsEntry("actor", "read").doesNotContainKey("expiresAt");
    assertThat(
            testServer
                .client("isk_invalid")
                .send(
                    "GET",
                    SESSION,
                    Map.of("Cookie", cookie, "Sec-Fetch-Site", "same-origin"),
                    new byte[0])
                .status())
        .isEqualTo(401);
  }

  @Test
  void endedSessionIsNoLongerAccepted() throws IOException {
    String cookie = signIn(testServer.use);
    TestClient.Response ended = send("DELETE", SESSION, cookie, SAME, "");
    assertThat(ended.status()).isEqualTo(204);
    assertThat(ended.headers().get("set-cookie"))
        .isEqualTo(cookie.split("=")[0] + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    assertThat(get(SESSION, cookie, SAME).status()).isEqualTo(401);
    assertThat(browser.get(SESSION).status()).isEqualTo(401);
  }

  @Test
  void sessionEndsWhenItsKeyIsRevoked() throws IOException {
    String cookie = signIn(testServer.keys.create("brief", Scope.ADMIN).secret());
    assertThat(get(SANDBOXES, cookie, SAME).status()).isEqualTo(200);
    assertThat(get("/api/v1/keys", cookie, SAME).text()).contains("lastUsedAt");
    testServer.keys.revoke("brief");
    assertThat(get(SANDBOXES, cookie, SAME).status()).isEqualTo(401);
  }

  @Test
  void auditLogHasTheNameOfTheKeyAndNoSecret() throws IOException {
    String key = testServer.keys.create("audited", Scope.USE).secret();
    String cookie = signIn(key);
    send("POST", SANDBOXES + "/" + id + "/exec", cookie, SAME, "{\"command\":\"true\"}");
    send("DELETE", SESSION, cookie, SAME, "");
    Path file = folder.resolve("audit");
    await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () ->
                Files.readAllLines(file).stream()
                        .filter(line -> line.contains("\"key\":\"audited\""))
                        .count()
                    == 3);
    assertThat(Files.readString(file))
        .contains("createSession", "endSession", "\"exec\"")
        .doesNotContain(cookie.split("=")[1], key);
    assertThat(testServer.requests.toString()).doesNotContain(cookie.split("=")[1], key);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void readTokenOnlyReadsItsSandbox() throws IOException {
    String other = testServer.client().post(SANDBOXES, "{}").field("id");
    String path = SANDBOXES + "/" + id;
    testServer.client().put(path + "/files/content?path=f", "hello".getBytes(UTF_8));
    String execution =
        testServer.client().post(path + "/executions", "{\"command\":\"echo hi\"}").field("id");
    TestClient token = testServer.client(token("read"));
    String cookie =
        browser
            .post(SESSION, "{\"token\":\"" + token.key() + "\"}")
            .headers()
            .getOrDefault("set-cookie", "")
            .split(";", 2)[0];
    TestClient.Response session = get(SESSION, cookie, SAME);
    assertThat(session.json())
        .containsEntry("actor", "(sandbox token)")
        .containsEntry("scope", "read")
        .containsEntry("sandbox", id);
    assertThat(token.get(SESSION).json()).containsAllEntriesOf(session.json());
    for (String allowed :
        List.of(
            path,
            path + "/status",
            path + "/files/content?path=f",
            path + "/executions",
            path + "/executions/" + execution + "/output",
            path + "/ports")) {
      assertThat(token.get(allowed).status()).as(allowed).isEqualTo(200);
      assertThat(get(allowed, cookie, SAME).status()).as(allowed).isEqualTo(200);
      assertThat(get(allowed, cookie, Map.of()).status()).as(allowed).isEqualTo(401);
    }
    assertThat(token.get(path).text()).contains("***").doesNotContain("hunter");
    // The path is outside of what this provider shows; ReadableFilesTest has those that are inside.
    assertThat(token.get(path + "/files/content?path=/proc/self/environ").status()).isEqualTo(400);
    for (String forbidden :
        List.of(
            SANDBOXES,
            SANDBOXES + "/" + other,
            path + "/egress",
            "/api/v1/events",
            "/api/v1/events?sandbox=" + other,
            "/api/v1/events?sandbox=" + id + "&sandbox=" + other,
            "/api/v1/events?sandbox=" + id + "&sandbox=" + id,
            "/api/v1/providers",
            "/api/v1/keys")) {
      // Does not read the body, which would not end if the request were accepted.
      try (TestClient.OpenResponse answer = token.open("GET", forbidden, Map.of(), new byte[0])) {
        assertThat(answer.status()).as(forbidden).isEqualTo(403);
      }
      Map<String, String> headers = Map.of("Cookie", cookie, "Sec-Fetch-Site", "same-origin");
      try (TestClient.OpenResponse answer = browser.open("GET", forbidden, headers, new byte[0])) {
        assertThat(answer.status()).as(forbidden).isEqualTo(403);
      }
    }
    for (String change : List.of("/exec", "/executions", "/pause", "/tokens", "/files/folder")) {
      assertThat(token.post(path + change, "{}").status()).as(change).isEqualTo(403);
      assertThat(send("POST", path + change, cookie, SAME, "{}").status())
          .as(change)
          .isEqualTo(403);
    }
    assertThat(token.delete(path).status()).isEqualTo(403);
    assertThat(token.get(path + "/ports/8000/").status()).as("a preview").isEqualTo(401);
    testServer.client().delete(SANDBOXES + "/" + other + "?force=true");
  }

  @Test
  void readTokenIsAcceptedOnRoutesThatReadItsSandbox() throws IOException {
    TestClient token = testServer.client(token("read"));
    int accepted = 0;
    for (Route route : testServer.routes.nativeRoutes()) {
      if (route.scope().isEmpty() || route.body() instanceof Route.Body.Forwarded) {
        continue;
      }
      String path =
          route
                  .template()
                  .replace("{id}", id)
                  .replace("{port}", "8000")
                  .replaceAll("\\{[a-z]+}", "missing")
              + "?x=1";
      boolean reads =
          route.scope().equals(Optional.of(Scope.READ))
              && (route.tokenAccess() == Route.TokenAccess.PATH
                  || route.tokenAccess() == Route.TokenAccess.ANY);
      assertThat(token.send(route.method(), path, Map.of(), new byte[0]).status())
          .as(route.name())
          .isEqualTo(reads ? 400 : 403);
      accepted += reads ? 1 : 0;
      assertThat(!reads || route.method().equals("GET") || route.name().equals("endSession"))
          .as(route.name() + " changes nothing")
          .isTrue();
    }
    assertThat(accepted).isGreaterThan(10);
  }

  @Test
  void tokenFollowsTheEventsOfItsSandbox() throws IOException {
    for (String scope : List.of("read", "use")) {
      try (TestClient.OpenResponse events =
          testServer
              .client(token(scope))
              .open("GET", "/api/v1/events?after=0&sandbox=" + id, Map.of(), new byte[0])) {
        assertThat(events.status()).isEqualTo(200);
        StringBuilder seen = new StringBuilder();
        while (seen.indexOf("event: ready") < 0 && seen.length() < 10_000) {
          seen.append((char) events.body().read());
        }
        assertThat(seen.toString()).contains("event: ready", id);
      }
    }
  }

  @Test
  void terminalNeedsTheOriginOfTheServer() throws IOException {
    String cookie = signIn(testServer.use);
    String path = SANDBOXES + "/" + id + "/executions";
    String execution =
        testServer
            .client()
            .post(path, "{\"argv\":[\"cat\"],\"terminal\":{\"rows\":24,\"cols\":80}}")
            .field("id");
    String terminal = path + "/" + execution + "/terminal";
    List<String> protocols = List.of("isola.terminal.v1");
    for (Map<String, String> headers :
        List.of(
            Map.of("Cookie", cookie),
            Map.of("Cookie", cookie, "Sec-Fetch-Site", "same-origin"),
            Map.of("Cookie", cookie, "Origin", "http://localhost:" + browser.port()),
            Map.of("Cookie", cookie, "Origin", "null"),
            Map.of("Origin", origin()))) {
      assertThatThrownBy(() -> TerminalClient.open(browser.port(), terminal, headers, protocols))
          .as("" + headers)
          .hasMessageContaining("WebSocketHandshakeException");
    }
    try (TerminalClient client =
        TerminalClient.open(
            browser.port(), terminal, Map.of("Cookie", cookie, "Origin", origin()), protocols)) {
      assertThat(client.protocol()).isEqualTo("isola.terminal.v1");
    }
  }

  @Test
  void sandboxReceivesNoSession() throws IOException {
    try (TestSite site = new TestSite()) {
      site.respondWith(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: isola_session_1=x\r\n"
              + "Set-Cookie: __Host-isola_session=x; Secure; Path=/\r\nSet-Cookie: own=1\r\n\r\nok");
      String cookies =
          signIn(testServer.admin) + "; own=2; isola_session=x; __Host-isola_session_1=y";
      String prefix = SANDBOXES + "/" + id + "/ports/" + site.port();
      Map<String, String> hosts =
          Map.of(
              "127.0.0.1:" + browser.port(),
              prefix,
              site.port() + "-" + id + ".localhost:" + browser.port(),
              "");
      for (Map.Entry<String, String> form : hosts.entrySet()) {
        TestClient.Response answer =
            testServer
                .client()
                .send(
                    "GET",
                    form.getValue() + "/",
                    Map.of("Host", form.getKey(), "Cookie", cookies),
                    new byte[0]);
        assertThat(answer.text()).isEqualTo("ok");
        assertThat(site.lastHead())
            .contains("Cookie: own=2\r\n")
            .doesNotContain("isola_session", testServer.admin);
        assertThat(answer.headers().getOrDefault("set-cookie", "own=1")).isEqualTo("own=1");
        for (Map<String, String> headers :
            List.of(SAME, Map.of("Sec-Fetch-Site", "cross-site", "Origin", "null"))) {
          Map<String, String> all = new LinkedHashMap<>(headers);
          all.put("Host", form.getKey());
          assertThat(get(form.getValue() + "/", cookies, all).status())
              .as("a session opens no preview")
              .isIn(401, 403);
        }
      }
    }
  }

  @Test
  void responseCannotActAsAPage() throws IOException {
    String cookie = signIn(testServer.use);
    String files = SANDBOXES + "/" + id + "/files";
    testServer
        .client()
        .put(files + "/content?path=x.html", "<script>alert(1)</script>".getBytes(UTF_8));
    for (String path :
        List.of(
            files + "/content?path=x.html",
            files + "/tree?path=.",
            files + "?path=.",
            files + "/content?path=missing",
            SANDBOXES)) {
      TestClient.Response answer = get(path, cookie, SAME);
      assertThat(answer.headers())
          .as(path)
          .containsEntry("content-security-policy", "sandbox; default-src 'none'")
          .containsEntry("x-content-type-options", "nosniff")
          .containsEntry("cache-control", "no-store");
      assertThat(answer.type()).doesNotContain("html");
    }
  }

  @Test
  void sessionOverTlsHasAHostPrefix() {
    // The rest of TLS is tested in ServerTlsTest.
    dev.isola.server.auth.SessionCookie cookie =
        dev.isola.server.auth.SessionCookie.of("isola.example", true);
    assertThat(cookie.set("s", Duration.ofSeconds(5)))
        .isEqualTo("__Host-isola_session=s; Path=/; Max-Age=5; HttpOnly; SameSite=Strict; Secure");
    assertThat(dev.isola.server.auth.SessionCookie.of("[::1]:7777", false).name())
        .isEqualTo("isola_session_7777");
  }
}
