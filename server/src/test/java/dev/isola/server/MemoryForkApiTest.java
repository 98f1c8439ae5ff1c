package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.testing.provider.FakeMemoryForking;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** N4: forks of memory by the native API, on a fake that declares them. */
class MemoryForkApiTest {
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

  private TestClient.Response fork(String key, String id, String body) throws IOException {
    return testServer.client(key).post("/api/v1/sandboxes/" + id + "/fork", body);
  }

  private String token(String id) throws IOException {
    return testServer
        .client()
        .post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}")
        .field("token");
  }

  @Test
  void clientsWithoutAccessCannotFork() throws IOException {
    String id = create("{}");
    String other = create("{}");
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
      TestClient.Response refused = fork(one.getKey(), id, MEMORY);
      assertThat(refused.status()).as(refused.text()).isEqualTo(one.getValue());
    }
    assertThat(fake.points).hasValue(0);
  }

  @Test
  void invalidRequestsAreRefused() throws IOException {
    String id = create("{}");
    for (String body :
        List.of(
            "{\"kind\":\"memory\",\"count\":0}",
            "{\"kind\":\"memory\",\"count\":101}",
            "{\"kind\":\"memory\",\"count\":1.5}",
            "{\"kind\":\"MEMORY\"}",
            "{\"kind\":\"memory\",\"allowSecrets\":\"true\"}",
            "{\"kind\":\"memory\",\"allowSecret\":true}")) {
      assertThat(fork(testServer.use, id, body).status()).as(body).isEqualTo(400);
    }
    assertThat(fork(testServer.use, "unknown", MEMORY).status()).isEqualTo(404);
    testServer.client().delete("/api/v1/sandboxes/" + id + "?force=true");
    assertThat(fork(testServer.use, id, MEMORY).status()).isEqualTo(410);
    assertThat(fake.points).hasValue(0);
  }

  @Test
  void secretsNeedAnExplicitRequest() throws IOException {
    String id = create("{\"secretEnv\":{\"API_KEY\":\"planted-secret-55d1\"}}");
    for (String body : List.of(MEMORY, "{\"kind\":\"memory\",\"allowSecrets\":false}")) {
      TestClient.Response refused = fork(testServer.use, id, body);
      assertThat(refused.status()).as(refused.text()).isEqualTo(409);
      assertThat(refused.field("code")).isEqualTo("CONFLICT");
      assertThat(refused.field("remedy")).contains("allowSecrets: true");
      assertThat(refused.text()).doesNotContain("planted-secret");
    }
    assertThat(fake.points).hasValue(0);
    TestClient.Response forked =
        fork(testServer.use, id, "{\"kind\":\"memory\",\"allowSecrets\":true}");
    assertThat(forked.status()).as(forked.text()).isEqualTo(200);
    assertThat(forked.text()).doesNotContain("planted-secret");
  }

  @Test
  void forksAreListedWithTheirMethodAndHaveTheirOwnTokens() throws IOException {
    String id = create("{\"tags\":{\"team\":\"red\"}}");
    TestClient.Response forked = fork(testServer.use, id, "{\"kind\":\"memory\",\"count\":3}");
    assertThat(forked.status()).as(forked.text()).isEqualTo(200);
    assertThat(forked.json()).containsEntry("kind", "memory");
    assertThat(forked.list("forks")).hasSize(3);
    assertThat(fake.points).as("one checkpoint for all").hasValue(1);
    String sourceToken = token(id);
    for (Map<?, ?> one : forked.list("forks")) {
      assertThat(one.get("by")).isEqualTo("memory");
      Map<?, ?> sandbox = (Map<?, ?>) Objects.requireNonNull(one.get("sandbox"));
      assertThat(sandbox.get("tags")).isEqualTo(Map.of("team", "red", "isola.forkOf", id));
      assertThat(
              testServer
                  .client(sourceToken)
                  .post(
                      "/api/v1/sandboxes/" + sandbox.get("id") + "/exec", "{\"command\":\"true\"}")
                  .status())
          .as("a token of the source in a fork")
          .isEqualTo(403);
    }
  }

  @Test
  void oneFailingForkIsReportedBesideTheOthers() throws IOException {
    String id = create("{}");
    fake.beforeFork =
        number -> {
          if (number == 2) {
            throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "no space left", "free some")
                .exception();
          }
        };
    List<Map<?, ?>> forks =
        fork(testServer.use, id, "{\"kind\":\"memory\",\"count\":3}").list("forks");
    assertThat(forks).filteredOn(one -> one.containsKey("sandbox")).hasSize(2);
    assertThat(forks)
        .filteredOn(one -> one.containsKey("error"))
        .singleElement()
        .satisfies(one -> assertThat(one.toString()).contains("no space left", "free some"));
  }

  @Test
  void sourceThatCannotBeSavedIsAConflictWithoutForks() throws IOException {
    String id = create("{}");
    fake.beforePoint =
        () -> {
          throw Fault.of(ErrorCode.CONFLICT, "a removed file is open", "close it").exception();
        };
    TestClient.Response refused = fork(testServer.use, id, MEMORY);
    assertThat(refused.status()).as(refused.text()).isEqualTo(409);
    assertThat(refused.field("detail")).contains("a removed file is open");
    assertThat(testServer.client().get("/api/v1/sandboxes?state=running").list("sandboxes"))
        .hasSize(1);
  }

  @Test
  void providerReportsBothKinds() throws IOException {
    assertThat(testServer.client().get("/api/v1/providers").list("providers"))
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.get("forks")).isEqualTo(List.of("filesystem", "memory"));
              assertThat(String.valueOf(one.get("capabilities"))).contains("memory-forking");
            });
  }
}
