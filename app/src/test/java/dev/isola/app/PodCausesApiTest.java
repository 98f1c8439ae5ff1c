package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.JsonValue;
import dev.isola.testing.cluster.TestCluster;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** B13: what a cluster does to a sandbox is the cause that a client reads seconds later. */
@Timeout(180)
class PodCausesApiTest {
  private static final Duration SECONDS = Duration.ofSeconds(6);

  @TempDir Path folder;

  /** Waits for the end of a sandbox, and returns its cause. */
  private static String cause(PodServer server, String id) {
    JsonValue[] last = new JsonValue[1];
    await()
        .atMost(SECONDS)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              last[0] = server.get(id);
              return !last[0].text("state").equals("running");
            });
    return last[0].text("cause");
  }

  @Test
  void causesAreReadWithinSeconds() throws Exception {
    try (PodServer server = PodServer.start(folder, "")) {
      TestCluster cluster = TestCluster.get();
      String deleted = server.create("{}");
      String drained = server.create("{}");
      cluster.kubectl("delete", PodServer.pod(deleted), "--wait=false");
      assertThat(cause(server, deleted)).contains("its pod was deleted");

      String node =
          cluster.kubectl("get", PodServer.pod(drained), "-o", "jsonpath={.spec.nodeName}");
      try {
        cluster.kubectl("drain", node, "--force", "--delete-emptydir-data", "--timeout=30s");
        assertThat(cause(server, drained)).contains("Eviction");
      } finally {
        cluster.kubectl("uncordon", node);
      }

      HttpResponse<String> image =
          server.send("POST", PodServer.SANDBOXES, "{\"image\":\"127.0.0.1:1/none:1\"}");
      assertThat(image.statusCode()).as(image.body()).isBetween(400, 499);
      assertThat(image.body()).contains("IMAGE_NOT_FOUND", "127.0.0.1:1/none:1");

      HttpResponse<String> gone =
          server.send("POST", PodServer.SANDBOXES + "/" + deleted + "/exec", "{\"command\":\"true\"}");
      assertThat(gone.statusCode()).isEqualTo(410);
      assertThat(gone.body()).contains("its pod was deleted");
    }
  }
}
