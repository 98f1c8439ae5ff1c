package dev.isola.provider.kubernetes.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.ProviderUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Watches that break: they continue where they ended, or begin again. */
@Timeout(30)
class ObjectWatchTest {
  private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

  private final class Recorder implements ObjectWatch.Listener {
    @Override
    public void listed(List<JsonValue> objects) {
      seen.add("listed " + objects.size());
    }

    @Override
    public void changed(JsonValue object) {
      seen.add("changed " + object.text("metadata", "name"));
    }

    @Override
    public void deleted(JsonValue object) {
      seen.add("deleted " + object.text("metadata", "name"));
    }
  }

  private String next() throws InterruptedException {
    return String.valueOf(seen.poll(10, TimeUnit.SECONDS));
  }

  private static String event(String type, String name, int version) {
    return "{\"type\":\""
        + type
        + "\",\"object\":{\"metadata\":{\"name\":\""
        + name
        + "\",\"resourceVersion\":\""
        + version
        + "\"}}}\n";
  }

  @Test
  void continuesWhereTheStreamEndedAndListsAgainWhenThatIsTooOld() throws Exception {
    try (FakeApiServer server = new FakeApiServer();
        ClusterClient client = new ClusterClient(server.access());
        ObjectWatch watch =
            new ObjectWatch(
                client,
                "/pods",
                ObjectWatch.Selection.ofLabels("a=b"),
                new Recorder(),
                e -> seen.add("failed"))) {
      server.respond("200 {\"items\":[{}],\"metadata\":{\"continue\":\"more\"}}");
      server.respond("200 {\"items\":[{},{}],\"metadata\":{\"resourceVersion\":\"5\"}}");
      server.respond("200 " + event("ADDED", "one", 6) + event("BOOKMARK", "", 8));
      server.respond("503 {}");
      server.respond(
          "200 " + event("DELETED", "one", 9) + "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n");
      server.respond("200 {\"items\":[],\"metadata\":{\"resourceVersion\":\"20\"}}");
      watch.start();

      assertThat(next()).isEqualTo("listed 3");
      assertThat(next()).isEqualTo("changed one");
      assertThat(next()).isEqualTo("failed");
      assertThat(next()).isEqualTo("deleted one");
      assertThat(next()).isEqualTo("listed 0");
      assertThat(server.requests.get(1)).contains("continue=more");
      assertThat(server.requests.get(2)).contains("resourceVersion=5");
      assertThat(server.requests.get(3)).contains("resourceVersion=8");
      assertThat(server.requests.get(4)).contains("resourceVersion=8");
      assertThat(server.requests.get(5)).doesNotContain("watch=true");
    }
  }

  @Test
  void newObjectsAreFollowedWithoutTheExistingOnes() throws Exception {
    try (FakeApiServer server = new FakeApiServer();
        ClusterClient client = new ClusterClient(server.access());
        ObjectWatch watch =
            new ObjectWatch(
                client,
                "/events",
                ObjectWatch.Selection.ofNewWithFields("reason=Started"),
                new Recorder(),
                e -> seen.add("failed"))) {
      server.respond("200 {\"items\":[{}],\"metadata\":{\"resourceVersion\":\"7\"}}");
      server.respond("200 " + event("ADDED", "one", 8));
      watch.start();

      assertThat(next()).isEqualTo("changed one");
      assertThat(server.requests.get(0)).contains("limit=1", "fieldSelector=reason%3DStarted");
      assertThat(server.requests.get(1)).contains("resourceVersion=7", "watch=true");
    }
  }

  @Test
  void responsesBecomeErrorsWithTheMessageOfTheServer() throws Exception {
    try (FakeApiServer server = new FakeApiServer();
        ClusterClient client = new ClusterClient(server.access())) {
      Deadline deadline = Deadline.in(Duration.ofSeconds(10));
      server.respond("409 {\"message\":\"already exists\"}");
      assertThatThrownBy(() -> client.create("/pods", Map.of(), deadline))
          .isInstanceOf(Conflict.class)
          .hasMessageContaining("already exists");
      server.respond("422 {\"message\":\"" + "x".repeat(100_000) + "\"}");
      assertThatThrownBy(() -> client.create("/pods", Map.of(), deadline))
          .isInstanceOf(InvalidRequest.class)
          .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(1000));
      server.respond("403 {\"message\":\"exceeded quota\"}");
      assertThatThrownBy(() -> client.create("/pods", Map.of(), deadline))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("exceeded quota");
      server.respond("200 not json");
      assertThatThrownBy(() -> client.get("/pods", deadline))
          .isInstanceOf(ProviderUnavailable.class);
      server.respond("404 {}");
      assertThat(client.get("/pods/none", deadline)).isEmpty();
    }
  }
}
