package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.Log;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.auth.Scope;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets over the API: written by administrators, used by others, returned to no client. */
class SecretRoutesTest {
  private static final String VALUE = "ghp_planted0Value1With2Enough3Room4";
  private static final String BODY =
      "{\"value\":\"" + VALUE + "\",\"hosts\":[\"api.example.com\"]}";
  private static final String USING =
      "{\"network\":{\"mode\":\"filtered\",\"egress\":{\"secrets\":{\"TOKEN\":\"github\"}}}}";

  private static final Log QUIET =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {}
      };

  @TempDir Path folder;
  private AuditLog audit;
  private TestServer testServer;
  private TestClient admin;
  private TestClient use;

  @BeforeEach
  void open() throws IOException {
    audit =
        AuditLog.open(folder.resolve("audit.jsonl"), 1 << 20, true, InstantSource.system(), QUIET);
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            context ->
                new HttpServerOptions(
                    Optional.empty(), RequestLimits.NONE, List.of(audit), Optional::empty),
            Map.of());
    admin = testServer.client();
    use = testServer.client(testServer.use);
  }

  @AfterEach
  void close() {
    testServer.close();
    audit.close();
  }

  private TestClient.Response put(TestClient client, String name, String body) throws IOException {
    return client.send(
        "PUT",
        "/api/v1/secrets/" + name,
        Map.of("Content-Type", "application/json"),
        body.getBytes(UTF_8));
  }

  @Test
  void valueIsInNoResponseAndInNoLog() throws IOException {
    StringBuilder responses = new StringBuilder();
    TestClient.Response stored = put(admin, "github", BODY);
    assertThat(stored.status()).as(stored.text()).isEqualTo(200);
    assertThat(stored.field("placeholder")).startsWith("ghp_").hasSameSizeAs(VALUE);
    responses.append(stored.text());
    List<String> malformed =
        List.of(
            BODY.substring(0, BODY.length() - 1),
            BODY.replace("hosts", "host"),
            BODY.replace("api.example.com", "https://api.example.com/"),
            BODY.replace("api.example.com", "*"),
            BODY.replace("[\"api.example.com\"]", "[]"),
            BODY.replace("\"hosts\"", "\"extra\":1,\"hosts\""),
            BODY.replace(VALUE, VALUE + "\\n"),
            BODY.replace("\"" + VALUE + "\"", "[\"" + VALUE + "\"]"),
            "\"" + VALUE + "\"",
            VALUE);
    for (String body : malformed) {
      TestClient.Response refused = put(admin, "github", body);
      assertThat(refused.status()).as(body + refused.text()).isEqualTo(400);
      responses.append(refused.text());
    }
    for (TestClient client : List.of(admin, use)) {
      responses.append(client.get("/api/v1/secrets").text());
      responses.append(client.get("/api/v1/secrets/github").text());
      responses.append(put(client, "other", BODY).text());
    }
    responses.append(admin.post("/api/v1/secret-key/rotate", "{}").text());
    responses.append(use.post("/api/v1/sandboxes", USING).text());
    responses.append(testServer.ledger.events().after(0, 1000));
    assertThat(responses).contains("\"values\":2").doesNotContain(VALUE);
    assertThat(testServer.requests.toString())
        .contains("/api/v1/secrets/{name}")
        .doesNotContain(VALUE);
    assertThat(testServer.warnings.toString()).doesNotContain(VALUE);
    audit.close();
    assertThat(Files.readString(folder.resolve("audit.jsonl")))
        .contains("putSecret")
        .doesNotContain(VALUE);
    assertThat(testServer.ledger.settings().all("secret").toString()).doesNotContain(VALUE);
  }

  @Test
  void onlyAdministratorsWrite() throws IOException {
    for (String key : List.of(testServer.use, testServer.read)) {
      assertThat(put(testServer.client(key), "github", BODY).status()).isEqualTo(403);
    }
    assertThat(put(admin, "github", BODY).status()).isEqualTo(200);
    assertThat(use.delete("/api/v1/secrets/github").status()).isEqualTo(403);
    assertThat(use.post("/api/v1/secret-key/rotate", "{}").status()).isEqualTo(403);
    assertThat(testServer.client(testServer.read).get("/api/v1/secrets").status()).isEqualTo(403);
    assertThat(use.get("/api/v1/secrets").text()).contains("\"github\"", "api.example.com");
    assertThat(admin.delete("/api/v1/secrets/github").status()).isEqualTo(204);
    TestClient.Response gone = admin.delete("/api/v1/secrets/github");
    assertThat(gone.status()).isEqualTo(404);
    assertThat(gone.field("code")).isEqualTo("SECRET_NOT_FOUND");
  }

  @Test
  void secretOfOneKeyDoesNotExistForOthers() throws IOException {
    String ci = testServer.keys.create("ci", Scope.USE).secret();
    assertThat(put(admin, "github", BODY.replace("}", ",\"keys\":[\"ci\"]}")).status())
        .isEqualTo(200);
    TestClient owner = testServer.client(ci);
    assertThat(owner.get("/api/v1/secrets").text()).contains("\"github\"");
    assertThat(owner.get("/api/v1/secrets/github").status()).isEqualTo(200);
    assertThat(admin.get("/api/v1/secrets").text()).contains("\"keys\":[\"ci\"]");
    assertThat(use.get("/api/v1/secrets").text()).doesNotContain("github");
    TestClient.Response hidden = use.get("/api/v1/secrets/github");
    TestClient.Response absent = use.get("/api/v1/secrets/absent");
    assertThat(hidden.status()).isEqualTo(404);
    assertThat(hidden.field("detail").replace("github", "absent"))
        .isEqualTo(absent.field("detail"));
    for (TestClient client : List.of(use, admin)) {
      TestClient.Response refused = client.post("/api/v1/sandboxes", USING);
      assertThat(refused.status()).as(refused.text()).isEqualTo(404);
      assertThat(refused.field("code")).isEqualTo("SECRET_NOT_FOUND");
    }
    // The provider of this server filters no networks, so the request gets as far as the selection.
    assertThat(owner.post("/api/v1/sandboxes", USING).text()).doesNotContain("SECRET_NOT_FOUND");
  }
}
