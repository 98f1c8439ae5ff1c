package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.spi.Health;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** E2B's volume API on a provider that supports volumes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class E2bVolumesTest {
  private static final JsonMapper JSON = new JsonMapper();

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer =
        E2bTestServer.open(
            folder, new BubblewrapProviderFactory(), context -> HttpServerOptions.NONE, Map.of());
    assumeTrue(
        testServer.registry.get("bubblewrap").health() instanceof Health.Healthy,
        "NOT RUN: bubblewrap is not healthy here");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private TestClient.Response send(String method, String path, String body, String key)
      throws IOException {
    Map<String, String> headers = new HashMap<>(Map.of("X-API-KEY", key));
    if (!body.isEmpty()) {
      headers.put("Content-Type", "application/json");
    }
    return testServer.client("").send(method, path, headers, body.getBytes(UTF_8));
  }

  private TestClient.Response send(String method, String path, String body) throws IOException {
    return send(method, path, body, testServer.admin);
  }

  private static List<Map<String, Object>> array(TestClient.Response answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return JSON.readValue(answer.body(), new TypeReference<List<Map<String, Object>>>() {});
  }

  private TestClient.Response content(
      String method, String volume, String what, String authorization) throws IOException {
    return content(method, volume, what, authorization, new byte[0]);
  }

  private TestClient.Response content(
      String method, String volume, String what, String authorization, byte[] body)
      throws IOException {
    Map<String, String> headers =
        authorization.isEmpty() ? Map.of() : Map.of("Authorization", authorization);
    return testServer
        .client("")
        .send(method, "/volumecontent/" + volume + "/" + what, headers, body);
  }

  @Test
  void volumesAreCreatedAndFoundByName() throws IOException {
    TestClient.Response made = send("POST", "/volumes", "{\"name\":\"data\"}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(send("POST", "/volumes", "{\"name\":\"data\"}").json()).containsEntry("code", 409);
    assertThat(send("POST", "/volumes", "{\"name\":\"../x\"}").json()).containsEntry("code", 400);
    assertThat(send("GET", "/volumes/" + made.field("volumeID"), "").field("name"))
        .isEqualTo("data");
    assertThat(send("GET", "/volumes/none", "").json()).containsEntry("code", 404);
    assertThat(array(send("GET", "/volumes", "")))
        .anySatisfy(one -> assertThat(one).containsEntry("name", "data"));
    assertThat(testServer.engine.volumes().get("", "data").id()).isEqualTo(made.field("volumeID"));
  }

  @Test
  void volumeContentRequiresItsToken() throws IOException {
    TestClient.Response made = send("POST", "/volumes", "{\"name\":\"inside\"}");
    String id = made.field("volumeID");
    String token = made.field("token");
    assertThat(token).hasSize(64);
    assertThat(array(send("GET", "/volumes", "", testServer.read)))
        .allSatisfy(one -> assertThat(one).containsOnlyKeys("volumeID", "name"));
    assertThat(send("GET", "/volumes/" + id, "", testServer.read).status()).isEqualTo(403);
    String second = send("GET", "/volumes/" + id, "", testServer.use).field("token");
    assertThat(second).hasSize(64).isNotEqualTo(token);
    assertThat(testServer.ledger.settings().all("e2b-volume-token").toString())
        .contains(id)
        .doesNotContain(token, second);
    for (String shown : List.of("", "Bearer", "Bearer " + token + "0", token, "Basic " + token)) {
      assertThat(content("GET", id, "dir?path=/", shown).status()).as(shown).isEqualTo(401);
    }
    assertThat(content("GET", id, "dir?path=/", "Bearer " + testServer.admin).status())
        .isEqualTo(401);
    assertThat(content("GET", "none", "dir?path=/", "Bearer " + token).status()).isEqualTo(401);
    assertThat(content("GET", id, "dir?path=/&depth=0", "Bearer " + token).status()).isEqualTo(400);
    assertThat(content("GET", id, "file?path=a/../../b", "Bearer " + token).json())
        .containsEntry("code", 400);
    TestClient.Response written =
        content("PUT", id, "file?path=/a/b.txt", "Bearer " + token, "hello".getBytes(UTF_8));
    assertThat(written.status()).as(written.text()).isEqualTo(201);
    assertThat(written.json()).containsEntry("path", "/a/b.txt").containsEntry("name", "b.txt");
    assertThat(content("GET", id, "file?path=a/b.txt", "Bearer " + second).text())
        .isEqualTo("hello");
    assertThat(array(content("GET", id, "dir?path=/", "Bearer " + token)))
        .singleElement()
        .satisfies(one -> assertThat(one).containsEntry("path", "/a"));
    assertThat(send("DELETE", "/volumes/" + id, "").status()).isEqualTo(204);
    assertThat(content("GET", id, "dir?path=/", "Bearer " + token).status()).isEqualTo(401);
    assertThat(testServer.registry.get("bubblewrap").volumes().orElseThrow().list())
        .doesNotContain("inside");
    assertThat(testServer.ledger.settings().all("e2b-volume-token")).doesNotContainKey(id);
  }
}
