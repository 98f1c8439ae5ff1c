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

/** E2B's volumes are the engine's, at a provider that has some. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class E2bVolumesTest {
  private static final JsonMapper JSON = new JsonMapper();

  private TestServer house;

  @BeforeAll
  void open(@TempDir Path folder) {
    house =
        E2bTestServer.open(
            folder, new BubblewrapProviderFactory(), serving -> HttpServerOptions.NONE, Map.of());
    assumeTrue(
        house.registry.get("bubblewrap").health() instanceof Health.Healthy,
        "NOT RUN: bubblewrap is not healthy here");
  }

  @AfterAll
  void close() {
    house.close();
  }

  private TestClient.Response ask(String method, String path, String body, String key)
      throws IOException {
    Map<String, String> headers = new HashMap<>(Map.of("X-API-KEY", key));
    if (!body.isEmpty()) {
      headers.put("Content-Type", "application/json");
    }
    return house.client("").send(method, path, headers, body.getBytes(UTF_8));
  }

  private TestClient.Response ask(String method, String path, String body) throws IOException {
    return ask(method, path, body, house.admin);
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
    return house.client("").send(method, "/volumecontent/" + volume + "/" + what, headers, body);
  }

  @Test
  void volumesHaveNames() throws IOException {
    TestClient.Response made = ask("POST", "/volumes", "{\"name\":\"data\"}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(ask("POST", "/volumes", "{\"name\":\"data\"}").json()).containsEntry("code", 409);
    assertThat(ask("POST", "/volumes", "{\"name\":\"../x\"}").json()).containsEntry("code", 400);
    assertThat(ask("GET", "/volumes/" + made.field("volumeID"), "").field("name"))
        .isEqualTo("data");
    assertThat(ask("GET", "/volumes/none", "").json()).containsEntry("code", 404);
    assertThat(array(ask("GET", "/volumes", "")))
        .anySatisfy(one -> assertThat(one).containsEntry("name", "data"));
    assertThat(house.engine.volumes().get("", "data").id()).isEqualTo(made.field("volumeID"));
  }

  @Test
  void whatIsInAVolumeIsForItsTokenOnly() throws IOException {
    TestClient.Response made = ask("POST", "/volumes", "{\"name\":\"inside\"}");
    String id = made.field("volumeID");
    String token = made.field("token");
    assertThat(token).hasSize(64);
    assertThat(array(ask("GET", "/volumes", "", house.read)))
        .allSatisfy(one -> assertThat(one).containsOnlyKeys("volumeID", "name"));
    assertThat(ask("GET", "/volumes/" + id, "", house.read).status()).isEqualTo(403);
    String second = ask("GET", "/volumes/" + id, "", house.use).field("token");
    assertThat(second).hasSize(64).isNotEqualTo(token);
    assertThat(house.ledger.settings().all("e2b-volume-token").toString())
        .contains(id)
        .doesNotContain(token, second);
    for (String shown : List.of("", "Bearer", "Bearer " + token + "0", token, "Basic " + token)) {
      assertThat(content("GET", id, "dir?path=/", shown).status()).as(shown).isEqualTo(401);
    }
    assertThat(content("GET", id, "dir?path=/", "Bearer " + house.admin).status()).isEqualTo(401);
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
    assertThat(ask("DELETE", "/volumes/" + id, "").status()).isEqualTo(204);
    assertThat(content("GET", id, "dir?path=/", "Bearer " + token).status()).isEqualTo(401);
    assertThat(house.registry.get("bubblewrap").volumes().orElseThrow().list())
        .doesNotContain("inside");
    assertThat(house.ledger.settings().all("e2b-volume-token")).doesNotContainKey(id);
  }
}
