package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Log;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Changes by E2B's clients and disclosures of tokens to them are audited. */
class E2bAuditTest {
  private static final Log QUIET =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {
          throw new AssertionError(sentence);
        }
      };

  @TempDir Path folder;
  private AuditLog audit;
  private TestServer testServer;

  @BeforeEach
  void open() throws IOException {
    audit = AuditLog.open(file(), 1 << 20, true, InstantSource.system(), QUIET);
    testServer =
        E2bTestServer.open(
            folder,
            context ->
                new HttpServerOptions(
                    Optional.empty(), RequestLimits.NONE, List.of(audit), Optional::empty));
  }

  @AfterEach
  void close() {
    testServer.close();
    audit.close();
  }

  private Path file() {
    return folder.resolve("audit.jsonl");
  }

  private List<Map<String, Object>> lines() throws IOException {
    try (Stream<String> lines = Files.lines(file())) {
      return lines
          .map(
              line -> new JsonMapper().readValue(line, new TypeReference<Map<String, Object>>() {}))
          .toList();
    }
  }

  /** Waits for lines, which are written after the response is sent. */
  private List<Map<String, Object>> lines(int count) {
    await().atMost(Duration.ofSeconds(10)).until(() -> lines().size() >= count);
    try {
      return lines();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static Map<String, Object> of(List<Map<String, Object>> lines, String action) {
    return lines.stream()
        .filter(line -> action.equals(line.get("action")))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void tokenWritesAndTokenDisclosuresAreLoggedWithAnActor() throws IOException {
    TestClient client = testServer.client("");
    Map<String, String> use =
        Map.of("X-API-KEY", testServer.use, "Content-Type", "application/json");
    byte[] nothing = new byte[0];
    TestClient.Response made =
        client.send("POST", "/v2/sandboxes", use, "{\"templateID\":\"host\"}".getBytes(UTF_8));
    String id = made.field("sandboxID");
    String envd = made.field("envdAccessToken");
    client.send("GET", "/sandboxes/" + id, use, nothing);
    client.send("GET", "/sandboxes/" + id, Map.of("X-API-KEY", testServer.read), nothing);
    Map<String, String> inside =
        Map.of("E2b-Sandbox-Id", id, "E2b-Sandbox-Port", "49983", "X-Access-Token", envd);
    client.send("POST", "/files?path=/workspace/a", inside, "a".getBytes(UTF_8));
    client.send("GET", "/files?path=/workspace/a", inside, nothing);
    client.send("POST", "/files?path=/x&signature=v1_wrong", Map.of(), "a".getBytes(UTF_8));
    String planted = testServer.plantVolume();
    TestClient.Response volume = client.send("GET", "/volumes/" + planted, use, nothing);
    client.send(
        "PUT",
        "/volumecontent/" + planted + "/file?path=/a",
        Map.of("Authorization", "Bearer " + volume.field("token")),
        "a".getBytes(UTF_8));
    testServer.client(testServer.use).post("/api/v1/sandboxes/" + id + "/ports/1/x", "{}");

    assertThat(lines(6))
        .extracting(line -> line.get("key") + " " + line.get("action") + " " + line.get("token"))
        .containsExactlyInAnyOrder(
            "use e2bCreate true",
            "use e2bGet true",
            "(envd token) envdWriteFiles null",
            "use e2bGetVolume true",
            "(volume token) e2bVolumeWrite null",
            "use previewPost null");
    assertThat(Files.readString(file())).doesNotContain(envd, volume.field("token"));
  }

  @Test
  void signedUrlWriteIsLoggedWithItsSandbox() throws Exception {
    TestClient client = testServer.client("");
    TestClient.Response made =
        client.send(
            "POST",
            "/v2/sandboxes",
            Map.of("X-API-KEY", testServer.use, "Content-Type", "application/json"),
            "{\"templateID\":\"host\"}".getBytes(UTF_8));
    String signed = "/workspace/b:write::" + made.field("envdAccessToken");
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(signed.getBytes(UTF_8));
    String signature = "v1_" + Base64.getEncoder().withoutPadding().encodeToString(hash);
    String query = "?path=/workspace/b&signature=" + URLEncoder.encode(signature, UTF_8);
    TestClient.Response wrote =
        client.send("POST", "/files" + query, Map.of(), "b".getBytes(UTF_8));
    assertThat(wrote.status()).as(wrote.text()).isEqualTo(200);
    assertThat(of(lines(2), "writeSignedFiles"))
        .containsEntry("key", "(signed URL)")
        .containsEntry("sandbox", made.field("sandboxID"))
        .containsEntry("outcome", "ok");
    assertThat(Files.readString(file())).doesNotContain(signature, "/workspace");
  }

  @Test
  void templateUploadIsLoggedWithoutItsSecret() throws IOException {
    TestClient client = testServer.client("");
    Map<String, String> admin =
        Map.of("X-API-KEY", testServer.admin, "Content-Type", "application/json");
    TestClient.Response named =
        client.send("POST", "/v3/templates", admin, "{\"name\":\"audited\"}".getBytes(UTF_8));
    String place = "/templates/" + named.field("templateID") + "/files/" + "a".repeat(64);
    String url = client.send("GET", place, admin, new byte[0]).field("url");
    TestClient.Response put =
        client.send(
            "PUT", url.substring(url.indexOf("/templates/")), Map.of(), "files".getBytes(UTF_8));
    assertThat(put.status()).as(put.text()).isEqualTo(200);
    assertThat(of(lines(3), "e2bPutUpload")).containsEntry("outcome", "ok");
    assertThat(of(lines(3), "e2bUpload")).containsEntry("token", true);
    assertThat(Files.readString(file())).doesNotContain(url.substring(url.lastIndexOf('/') + 1));
  }
}
