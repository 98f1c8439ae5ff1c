package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.limit.RequestLimits;
import dev.isola.server.oidc.FakeOidcProvider;
import dev.isola.server.oidc.OidcSettings;
import dev.isola.server.oidc.OidcSignIn;
import dev.isola.spi.Secret;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** D15: a browser signs in with an OpenID Connect provider. */
class OidcRoutesTest {
  private static final String BEGIN = "/api/v1/session/oidc";
  private static final String CALLBACK = BEGIN + "/callback";
  private static final int FAILURES = 20;

  @TempDir Path folder;
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final Log log =
      new Log() {
        @Override
        public void info(String sentence) {
          logged.add(sentence);
        }

        @Override
        public void warning(String sentence) {
          throw new AssertionError(sentence);
        }
      };
  private FakeOidcProvider provider;
  private AuditLog audit;
  private TestServer testServer;
  private TestClient browser;

  /** A sign-in in progress: the cookie as NAME=VALUE, and the address at the provider. */
  private record Begun(String cookie, String location) {}

  @BeforeEach
  void open() throws IOException {
    provider = new FakeOidcProvider(InstantSource.system());
    audit = AuditLog.open(file(), 1 << 20, true, InstantSource.system(), log);
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new TestProviderFactory(),
            context ->
                new HttpServerOptions(
                    Optional.empty(),
                    new RequestLimits(0, 1, FAILURES, 0, 0),
                    List.of(audit),
                    Optional::empty),
            Map.of(),
            (context, keys, stored) -> List.of(),
            keys -> Optional.of(signIn(keys)));
    testServer.keys.create("team", Scope.USE);
    browser = testServer.client("");
  }

  @AfterEach
  void close() {
    testServer.close();
    audit.close();
    provider.close();
  }

  private Path file() {
    return folder.resolve("audit.jsonl");
  }

  private OidcSignIn signIn(ApiKeys keys) {
    SequencedMap<String, String> names = new LinkedHashMap<>();
    names.put("anna@example.org", "team");
    return new OidcSignIn(
        new OidcSettings(
            provider.issuer(),
            FakeOidcProvider.CLIENT_ID,
            Optional.of(Secret.of(FakeOidcProvider.CLIENT_SECRET)),
            List.of("openid", "email"),
            "email",
            names,
            Optional.empty()),
        keys,
        InstantSource.system(),
        log,
        Duration.ofSeconds(5));
  }

  private Begun begin(String query) throws IOException {
    TestClient.Response answer = browser.get(BEGIN + query);
    assertThat(answer.status()).as(answer.text()).isEqualTo(303);
    return new Begun(header(answer, "set-cookie").split(";", 2)[0], header(answer, "location"));
  }

  private TestClient.Response callback(String cookie, String query) throws IOException {
    Map<String, String> headers =
        Map.of("Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate");
    return browser.send("GET", CALLBACK + query, headers, new byte[0]);
  }

  private static String header(TestClient.Response answer, String name) {
    return answer.headers().getOrDefault(name, "");
  }

  private static List<String> cookies(TestClient.Response answer) {
    return header(answer, "set-cookie").lines().toList();
  }

  private void assertRefused(TestClient.Response answer, String problem) {
    assertThat(answer.status()).isEqualTo(303);
    assertThat(header(answer, "location")).isEqualTo("/ui#/sign-in?problem=" + problem);
    assertThat(cookies(answer)).allMatch(one -> one.contains("Max-Age=0"));
  }

  private TestClient.Response session(String cookie) throws IOException {
    return browser.send(
        "GET",
        "/api/v1/session",
        Map.of("Cookie", cookie, "Sec-Fetch-Site", "same-origin"),
        new byte[0]);
  }

  @Test
  void personSignsInWithTheRightsOfTheKeyUntilItIsRevoked() throws IOException {
    TestClient.Response start = browser.get(BEGIN + "?return=/ui%23/volumes");
    assertThat(cookies(start))
        .singleElement()
        .asString()
        .matches(
            "isola_session_signin_"
                + browser.port()
                + "=[A-Za-z0-9_-]+; Path=/; Max-Age=600; HttpOnly; SameSite=Lax");
    String location = header(start, "location");
    assertThat(location).startsWith(provider.issuer() + "/authorize?tenant=1&");
    String cookie = cookies(start).getFirst().split(";", 2)[0];
    TestClient.Response answer = callback(cookie, provider.signIn(location));
    assertThat(answer.status()).isEqualTo(303);
    assertThat(header(answer, "location")).isEqualTo("/ui#/volumes");
    assertThat(header(answer, "referrer-policy")).isEqualTo("no-referrer");
    assertThat(header(answer, "cache-control")).isEqualTo("no-store");
    assertThat(cookies(answer)).hasSize(2);
    assertThat(cookies(answer).getFirst()).contains("_signin_", "Max-Age=0");
    String session = cookies(answer).getLast();
    assertThat(session).contains("HttpOnly; SameSite=Strict");
    session = session.split(";", 2)[0];
    assertThat(session(session).json())
        .containsEntry("actor", "team")
        .containsEntry("scope", "use");
    Map<String, String> page = Map.of("Cookie", session, "Sec-Fetch-Site", "same-origin");
    assertThat(browser.send("GET", "/api/v1/keys", page, new byte[0]).status()).isEqualTo(403);
    testServer.keys.revoke("team");
    assertThat(session(session).status()).isEqualTo(401);
    testServer.keys.create("team", Scope.ADMIN);
    assertThat(session(session).status()).isEqualTo(401);
  }

  @Test
  void callbackWithoutTheCookieOfTheBrowserIsRefused() throws IOException {
    Begun own = begin("");
    Begun attacker = begin("");
    String query = provider.signIn(attacker.location());
    assertRefused(callback("other=1", query), "expired");
    assertRefused(callback(own.cookie(), query), "expired");
    assertRefused(callback(own.cookie() + "; " + attacker.cookie(), query), "expired");
    assertRefused(callback(own.cookie(), ""), "expired");
    assertThat(provider.tokenRequests).hasValue(0);
    assertThat(callback(attacker.cookie(), query).status()).isEqualTo(303);
    assertThat(provider.tokenRequests).hasValue(1);
    provider.acceptsReplayedCodes = true;
    assertRefused(callback(attacker.cookie(), query), "expired");
    assertThat(provider.tokenRequests).hasValue(1);
  }

  @Test
  void signInReturnsToPagesOfTheDashboardOnly() throws IOException {
    for (String foreign :
        List.of(
            "https://evil.example.org",
            "//evil.example.org",
            "/%5Cevil.example.org",
            "/api/v1/keys",
            "/uievil",
            "/ui%0d%0aX:1",
            "/ui%23/%0aSet-Cookie:x",
            "/ui/../x",
            "/ui?x=1",
            "javascript:alert(1)",
            "")) {
      assertThat(browser.get(BEGIN + "?return=" + foreign).status()).as(foreign).isEqualTo(400);
    }
    begin("?return=/ui");
    begin("?return=/ui%23/sandboxes/abc/terminal%3Fx%3D1");
  }

  @Test
  void signInsAndRefusedSignInsAreAuditedWithoutSecrets() throws IOException {
    Begun first = begin("");
    String good = provider.signIn(first.location());
    String session = cookies(callback(first.cookie(), good)).getLast().split("[=;]")[1];
    provider.claims =
        claims -> {
          claims.put("email", "mallory@example.org");
          return claims;
        };
    Begun second = begin("");
    String refused = provider.signIn(second.location());
    assertRefused(callback(second.cookie(), refused), "no-key");
    assertRefused(callback("other=1", refused), "expired"); // is not audited
    await()
        .atMost(Duration.ofSeconds(10))
        .until(() -> Files.readAllLines(file()).size() == 2 && testServer.requests.size() == 5);
    List<Map<String, Object>> entries = new ArrayList<>();
    for (String line : Files.readAllLines(file())) {
      entries.add(Json.parseObject(line));
    }
    assertThat(entries.get(0))
        .containsEntry("key", "team")
        .containsEntry("action", "completeOidcSignIn")
        .containsEntry("outcome", "ok");
    assertThat(entries.get(1))
        .containsEntry("key", "(openid connect)")
        .containsEntry("action", "completeOidcSignIn")
        .containsEntry("outcome", "FORBIDDEN");
    assertThat(Files.readString(file()) + testServer.requests + logged + testServer.warnings)
        .contains("no value of the claim email is in oidc.keys")
        .doesNotContain(
            good.split("[=&]")[1],
            refused.split("[=&]")[1],
            first.cookie().split("=")[1],
            session,
            "mallory",
            FakeOidcProvider.CLIENT_SECRET);
  }

  @Test
  void addressWithTooManyFailuresIsRefusedUnchecked() throws IOException {
    Begun begun = begin("");
    String query = provider.signIn(begun.location());
    for (int i = 0; i < FAILURES; i++) {
      Begun other = begin("");
      String wrong = provider.signIn(other.location()).replaceFirst("code=[^&]*", "code=x");
      assertThat(header(callback(other.cookie(), wrong), "location")).contains("problem=");
    }
    assertThat(provider.tokenRequests).hasValue(FAILURES);
    assertRefused(callback(begun.cookie(), query), "too-many");
    assertThat(provider.tokenRequests).hasValue(FAILURES);
  }

  /** Any page can make the browsers of an address send callbacks. */
  @Test
  void callbacksWithoutASignInInProgressBlockNoOther() throws IOException {
    Begun begun = begin("");
    String query = provider.signIn(begun.location());
    for (int i = 0; i < 2 * FAILURES; i++) {
      assertRefused(callback("other=1", "?code=x&state=y"), "expired");
    }
    assertThat(header(callback(begun.cookie(), query), "location")).doesNotContain("problem");
  }

  @Test
  void invalidKeysDoNotBlockSignIns() throws IOException {
    for (int i = 0; i < 2 * FAILURES; i++) {
      testServer.client("isk_wrong0123456789").get("/api/v1/sandboxes");
    }
    Begun begun = begin("");
    TestClient.Response answer = callback(begun.cookie(), provider.signIn(begun.location()));
    assertThat(header(answer, "location")).doesNotContain("problem");
  }

  @Test
  void unavailableProviderLeadsToTheSignInPage() throws IOException {
    provider.close();
    assertRefused(browser.get(BEGIN), "provider-unavailable");
  }

  @Test
  void pagesLearnWhetherPeopleCanSignIn(@TempDir Path other) throws IOException {
    assertThat(browser.get("/").json()).containsEntry("oidcProvider", "127.0.0.1");
    try (TestServer without = new TestServer(other)) {
      assertThat(without.client("").get("/").json()).doesNotContainKey("oidcProvider");
      for (String path : List.of(BEGIN, CALLBACK + "?code=x&state=y")) {
        TestClient.Response answer = without.client("").get(path);
        assertThat(answer.status()).isEqualTo(501);
        assertThat(answer.text()).contains("oidc.issuer");
      }
    }
  }

  @Test
  void pageOfAnotherHostCannotSignIn() throws IOException {
    for (Map<String, String> foreign :
        List.of(Map.of("Host", "evil.example"), Map.of("Origin", "https://evil.example"))) {
      assertThat(browser.send("GET", BEGIN, foreign, new byte[0]).status()).isEqualTo(403);
      assertThat(browser.send("GET", CALLBACK, foreign, new byte[0]).status()).isEqualTo(403);
    }
  }
}
