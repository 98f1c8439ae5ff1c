package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.limit.RequestLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** D6: live statistics of the installation. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StatsTest {
  private static final String STATS = "/api/v1/stats";

  @TempDir static Path folder;
  private TestServer testServer;

  @BeforeAll
  void open() {
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            context ->
                new HttpServerOptions(
                    Optional.empty(),
                    RequestLimits.NONE,
                    List.of(
                        request ->
                            context
                                .engine()
                                .metrics()
                                .recorder()
                                .recordHttpRequest(
                                    request.method(),
                                    request.route(),
                                    request.status(),
                                    request.nanos())),
                    Optional::empty),
            Map.of());
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  /** An open stream of events. */
  private record Stream(TestClient.OpenResponse response, BufferedReader lines)
      implements AutoCloseable {
    Map<String, Object> next(String type) throws IOException {
      String line = nextLine();
      while (!line.equals("event: " + type)) {
        assertThat(line).doesNotStartWith("event: ");
        line = nextLine();
      }
      while (!line.startsWith("data: ")) {
        line = nextLine();
      }
      return new JsonMapper()
          .readValue(line.substring(6), new TypeReference<Map<String, Object>>() {});
    }

    private String nextLine() throws IOException {
      return Optional.ofNullable(lines.readLine()).orElseThrow();
    }

    @Override
    public void close() throws IOException {
      response.close();
    }
  }

  private Stream follow(String key) throws IOException {
    TestClient.OpenResponse response =
        testServer.client(key).open("GET", STATS, Map.of(), new byte[0]);
    assertThat(response.status()).isEqualTo(200);
    return new Stream(response, new BufferedReader(new InputStreamReader(response.body(), UTF_8)));
  }

  private static long number(Map<String, Object> json, String object, String field) {
    return decimal(RequestFuzzer.map(json.get(object)).get(field)).longValue();
  }

  private static Number decimal(@Nullable Object value) {
    return value instanceof Number number ? number : -1;
  }

  @Test
  void samplesFollowTheStateOfTheInstallation() throws IOException {
    TestClient client = testServer.client();
    String soon = client.post("/api/v1/sandboxes", "{\"ttlSeconds\":60}").field("id");
    String later = client.post("/api/v1/sandboxes", "{\"ttlSeconds\":6000}").field("id");
    client.post("/api/v1/sandboxes/" + soon + "/exec", "{\"command\":\"true\"}");
    try (Stream stream = follow(testServer.read)) {
      Map<String, Object> history = stream.next("history");
      assertThat(history).containsEntry("intervalSeconds", 10).containsKeys("samples", "health");
      assertThat(String.valueOf(history.get("health"))).contains("name=test", "status=healthy");
      Map<String, Object> sample = stream.next("sample");
      for (int i = 0; i < 5 && number(sample, "sandboxes", "running") != 2; i++) {
        sample = stream.next("sample");
      }
      assertThat(Instant.parse(String.valueOf(sample.get("at"))))
          .isBetween(Instant.now().minusSeconds(30), Instant.now().plusSeconds(1));
      assertThat(number(sample, "sandboxes", "running")).isEqualTo(2);
      assertThat(number(sample, "sandboxes", "failed")).isZero();
      assertThat(sample)
          .containsEntry("expiringSoon", 1)
          .containsEntry("warm", Map.of("ready", 0, "target", 0))
          .containsEntry("fallbacks", 0)
          .containsEntry("egressDenials", 0);
      assertThat(decimal(sample.get("createsPerMinute")).longValue()).isBetween(2L, 3L);
      for (String durations : List.of("createMs", "execMs")) {
        Map<?, ?> percentiles = RequestFuzzer.map(sample.get(durations));
        assertThat(decimal(percentiles.get("p50")).doubleValue())
            .isPositive()
            .isLessThanOrEqualTo(decimal(percentiles.get("p99")).doubleValue());
      }
      assertThat(String.valueOf(sample.get("providers"))).contains("name=test", "healthy");
      assertThat(String.valueOf(sample.get("limits"))).contains("memoryMb", "cpu", "waiting");
      client.delete("/api/v1/sandboxes/" + soon + "?force=true");
      client.delete("/api/v1/sandboxes/" + later + "?force=true");
      Map<String, Object> last = stream.next("sample");
      for (int i = 0; i < 5 && number(last, "sandboxes", "running") > 0; i++) {
        last = stream.next("sample");
      }
      assertThat(number(last, "sandboxes", "running")).isZero();
    }
  }

  @Test
  void clientsShareTheSamples() throws IOException {
    try (Stream one = follow(testServer.read);
        Stream other = follow(testServer.admin)) {
      one.next("history");
      other.next("history");
      Map<String, Object> sample = one.next("sample");
      Map<String, Object> same = other.next("sample");
      for (int i = 0; i < 3 && !sample.equals(same); i++) {
        same =
            String.valueOf(same.get("at")).compareTo(String.valueOf(sample.get("at"))) < 0
                ? other.next("sample")
                : same;
        sample =
            String.valueOf(sample.get("at")).compareTo(String.valueOf(same.get("at"))) < 0
                ? one.next("sample")
                : sample;
      }
      assertThat(same).isEqualTo(sample);
    }
  }

  @Test
  void sandboxTokenSeesNoStatistics() throws IOException {
    TestClient client = testServer.client();
    String id = client.post("/api/v1/sandboxes", "{}").field("id");
    String token =
        client
            .post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}")
            .field("token");
    assertThat(testServer.client(token).get(STATS).status()).isEqualTo(403);
    client.delete("/api/v1/sandboxes/" + id + "?force=true");
  }
}
