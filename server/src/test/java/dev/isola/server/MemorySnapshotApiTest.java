package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.testing.provider.FakeMemoryForking;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** N4: snapshots of memory by the native API, on a fake that declares them. */
class MemorySnapshotApiTest {
  private static final String MEMORY = "{\"kind\":\"memory\"}";

  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = new TestServer(folder, Duration.ofSeconds(30), fake);
  }

  @AfterEach
  void close() {
    testServer.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private String create(String body) throws IOException {
    TestClient.Response made = testServer.client().post("/api/v1/sandboxes", body);
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return made.field("id");
  }

  private TestClient.Response store(String key, String id, String body) throws IOException {
    return testServer.client(key).post("/api/v1/sandboxes/" + id + "/snapshots", body);
  }

  private TestClient.Response restore(String key, String snapshot, String more) throws IOException {
    return testServer
        .client(key)
        .post("/api/v1/sandboxes", "{\"image\":\"snapshot:" + snapshot + "\"" + more + "}");
  }

  private String token(String id) throws IOException {
    return testServer
        .client()
        .post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}")
        .field("token");
  }

  @Test
  void clientsWithoutAccessCanNeitherStoreNorRestoreNorRemove() throws IOException {
    String id = create("{}");
    String other = create("{}");
    String snapshot = store(testServer.use, id, MEMORY).field("id");
    int points = fake.points.get();
    Map<String, Integer> statuses =
        Map.of(
            "",
            401,
            "isk_0123456789abcdef0123456789abcdef",
            401,
            testServer.read,
            403,
            token(other),
            403,
            token(id),
            403);
    for (Map.Entry<String, Integer> one : statuses.entrySet()) {
      String key = one.getKey();
      List<TestClient.Response> refused =
          List.of(
              store(key, id, MEMORY),
              restore(key, snapshot, ""),
              testServer.client(key).delete("/api/v1/snapshots/" + snapshot));
      assertThat(refused)
          .allSatisfy(
              response ->
                  assertThat(response.status()).as(response.text()).isEqualTo(one.getValue()));
      if (!key.equals(testServer.read)) {
        assertThat(testServer.client(key).get("/api/v1/snapshots").status())
            .isEqualTo(one.getValue());
        assertThat(testServer.client(key).get("/api/v1/snapshots/" + snapshot).status())
            .isEqualTo(one.getValue());
      }
    }
    assertThat(fake.points).hasValue(points);
    assertThat(fake.forks).hasValue(0);
  }

  @Test
  void invalidRequestsAreRefused() throws IOException {
    String id = create("{}");
    for (String body :
        List.of(
            "{\"kind\":\"MEMORY\"}",
            "{\"kind\":\"processes\"}",
            "{\"kind\":\"memory\",\"scope\":\"folder\"}",
            "{\"kind\":\"memory\",\"path\":\"/tmp\"}",
            "{\"kind\":\"memory\",\"exclude\":[\"*.o\"]}",
            "{\"kind\":\"memory\",\"allowSecrets\":\"true\"}",
            "{\"kind\":\"memory\",\"tags\":{\"isola.rest\":\"" + id + "\"}}")) {
      assertThat(store(testServer.use, id, body).status()).as(body).isEqualTo(400);
    }
    assertThat(store(testServer.use, "unknown", MEMORY).status()).isEqualTo(404);
    testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
    assertThat(store(testServer.use, id, MEMORY).status()).isEqualTo(410);
    assertThat(fake.points).hasValue(0);
  }

  @Test
  void secretsNeedAnExplicitRequest() throws IOException {
    String id = create("{\"secretEnv\":{\"API_KEY\":\"planted-secret-31c0\"}}");
    TestClient.Response refused = store(testServer.use, id, MEMORY);
    assertThat(refused.status()).as(refused.text()).isEqualTo(409);
    assertThat(refused.field("remedy")).contains("allowSecrets: true");
    assertThat(refused.text()).doesNotContain("planted-secret");
    assertThat(fake.points).hasValue(0);
    TestClient.Response stored =
        store(testServer.use, id, "{\"kind\":\"memory\",\"allowSecrets\":true}");
    assertThat(stored.status()).as(stored.text()).isEqualTo(201);
    assertThat(stored.text()).doesNotContain("planted-secret");
  }

  @Test
  void snapshotIsListedWithItsKindAndRestored() throws IOException {
    String id = create("{\"env\":{\"COLOR\":\"planted-red\"},\"resources\":{\"memory\":333}}");
    TestClient.Response stored = store(testServer.use, id, MEMORY);
    assertThat(stored.status()).as(stored.text()).isEqualTo(201);
    assertThat(stored.json())
        .containsEntry("kind", "memory")
        .containsEntry("scope", "everything")
        .containsEntry("provider", FakeMemoryForking.NAME);
    String snapshot = stored.field("id");
    TestClient.Response listed = testServer.client(testServer.read).get("/api/v1/snapshots");
    assertThat(listed.list("snapshots"))
        .singleElement()
        .satisfies(one -> assertThat(one.get("kind")).isEqualTo("memory"));
    assertThat(listed.text()).as("the spec of the source").doesNotContain("planted-red");
    assertThat(
            testServer
                .client()
                .get("/api/v1/snapshots/" + snapshot + "/diff?to=" + snapshot)
                .status())
        .isEqualTo(400);

    TestClient.Response restored = restore(testServer.use, snapshot, "");
    assertThat(restored.status()).as(restored.text()).isEqualTo(201);
    assertThat(restored.text()).contains("333");
    for (String more :
        List.of(
            ",\"provider\":\"test\"",
            ",\"resources\":{\"memory\":444}",
            ",\"seedFiles\":{\"a\":\"b\"}",
            ",\"init\":\"true\"")) {
      TestClient.Response refused = restore(testServer.use, snapshot, more);
      assertThat(refused.status()).as(more + refused.text()).isEqualTo(400);
    }
    assertThat(fake.forks).hasValue(1);
  }

  @Test
  void providerReportsBothKinds() throws IOException {
    assertThat(testServer.client().get("/api/v1/providers").list("providers"))
        .singleElement()
        .satisfies(
            one -> assertThat(one.get("snapshots")).isEqualTo(List.of("filesystem", "memory")));
  }
}
