package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.testing.provider.FakeMemoryForking;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** O1, N4: E2B's fork continues processes where the provider, here a fake, supports it. */
class E2bMemoryForkTest {
  private static final String CREATE =
      "{\"templateID\":\"host\",\"network\":{\"allowPublicTraffic\":false}}";

  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = E2bTestServer.open(folder, fake, context -> HttpServerOptions.NONE, Map.of());
  }

  @AfterEach
  void close() {
    testServer.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private TestClient.Response send(String key, String path, String body) throws IOException {
    return testServer
        .client("")
        .send(
            "POST",
            path,
            Map.of("X-API-KEY", key, "Content-Type", "application/json"),
            body.getBytes(UTF_8));
  }

  private List<Map<String, Object>> fork(String id, String body) throws IOException {
    TestClient.Response forked = send(testServer.use, "/sandboxes/" + id + "/fork", body);
    assertThat(forked.status()).as(forked.text()).isEqualTo(201);
    return new JsonMapper()
        .readValue(forked.body(), new TypeReference<List<Map<String, Object>>>() {});
  }

  private static String tokenOf(Map<String, Object> fork, String field) {
    return String.valueOf(((Map<?, ?>) Objects.requireNonNull(fork.get("sandbox"))).get(field));
  }

  @Test
  void forksOfMemoryHaveTheirOwnTokens() throws IOException {
    TestClient.Response made = send(testServer.use, "/v2/sandboxes", CREATE);
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    List<Map<String, Object>> forks = fork(made.field("sandboxID"), "{\"count\":2}");
    assertThat(fake.points).as("one checkpoint for all").hasValue(1);
    assertThat(fake.forks).hasValue(2);
    assertThat(forks).hasSize(2);
    for (String field : List.of("sandboxID", "envdAccessToken", "trafficAccessToken")) {
      assertThat(forks)
          .extracting(one -> tokenOf(one, field))
          .as(field)
          .doesNotHaveDuplicates()
          .doesNotContain("null", made.field(field));
    }
  }

  @Test
  void sandboxWithSecretsIsForkedWithItsFiles() throws IOException {
    String id =
        testServer
            .client()
            .post("/api/v1/sandboxes", "{\"secretEnv\":{\"API_KEY\":\"planted\"}}")
            .field("id");
    assertThat(fork(id, "{}")).singleElement().matches(one -> one.containsKey("sandbox"));
    assertThat(fake.points).hasValue(0);
  }

  @Test
  void sandboxThatCannotBeSavedIsForkedWithItsFiles() throws IOException {
    for (ErrorCode code : List.of(ErrorCode.CONFLICT, ErrorCode.NOT_IMPLEMENTED)) {
      String id = send(testServer.use, "/v2/sandboxes", CREATE).field("sandboxID");
      fake.beforePoint =
          () -> {
            throw Fault.of(code, "it has a network", "create it without").exception();
          };
      assertThat(fork(id, "{}")).singleElement().matches(one -> one.containsKey("sandbox"));
      assertThat(fake.forks).hasValue(0);
    }
  }

  @Test
  void otherFailuresAreReported() throws IOException {
    String id = send(testServer.use, "/v2/sandboxes", CREATE).field("sandboxID");
    fake.beforePoint =
        () -> {
          throw Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, "no space left", "free some").exception();
        };
    assertThat(send(testServer.use, "/sandboxes/" + id + "/fork", "{}").status()).isEqualTo(503);
    assertThat(send(testServer.read, "/sandboxes/" + id + "/fork", "{}").status()).isEqualTo(403);
    for (String count : List.of("0", "101")) {
      assertThat(
              send(testServer.use, "/sandboxes/" + id + "/fork", "{\"count\":" + count + "}")
                  .status())
          .isEqualTo(400);
    }
  }
}
