package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.JsonValue;
import dev.isola.testing.cluster.TestCluster;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** B13: what a cluster does to a sandbox is the cause that a client reads seconds later. */
@Timeout(180)
class PodCausesApiTest {
  private static final Duration SECONDS = Duration.ofSeconds(6);

  /** The test cluster gives up a node after 20 seconds. */
  private static final Duration CLUSTER_GIVES_UP = Duration.ofSeconds(40);

  @TempDir Path folder;

  /** Waits for the end of a sandbox, and returns its cause. */
  private static String cause(PodServer server, String id, Duration limit) {
    JsonValue[] last = new JsonValue[1];
    await()
        .atMost(limit)
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
      assertThat(cause(server, deleted, SECONDS)).contains("its pod was deleted");

      String node =
          cluster.kubectl("get", PodServer.pod(drained), "-o", "jsonpath={.spec.nodeName}");
      try {
        cluster.kubectl("drain", node, "--force", "--delete-emptydir-data", "--timeout=30s");
        assertThat(cause(server, drained, SECONDS)).contains("Eviction");
      } finally {
        cluster.kubectl("uncordon", node);
      }

      String small = server.create("{\"resources\":{\"memory\":64}}");
      HttpResponse<String> full =
          server.send(
              "POST",
              PodServer.SANDBOXES + "/" + small + "/exec",
              "{\"command\":\"head -c 200m /dev/zero | tail\"}");
      assertThat(full.body()).contains("memory");

      HttpResponse<String> image =
          server.send("POST", PodServer.SANDBOXES, "{\"image\":\"127.0.0.1:1/none:1\"}");
      assertThat(image.statusCode()).as(image.body()).isBetween(400, 499);
      assertThat(image.body()).contains("IMAGE_NOT_FOUND", "127.0.0.1:1/none:1");

      HttpResponse<String> gone =
          server.send(
              "POST", PodServer.SANDBOXES + "/" + deleted + "/exec", "{\"command\":\"true\"}");
      assertThat(gone.statusCode()).isEqualTo(410);
      assertThat(gone.body()).contains("its pod was deleted");
    }
  }

  @Test
  void lostNodeIsTheCauseAsSoonAsTheClusterKnows() throws Exception {
    Assumptions.assumeTrue(
        Boolean.getBoolean("isola.long"),
        "NOT RUN: only with ./check --long, because a cluster waits before it gives up a node");
    Assumptions.assumeTrue(
        TestCluster.get().kubectl("get", "nodes", "-o", "name").contains("node2"),
        "NOT RUN: the cluster has one node; set ISOLA_CLUSTER_NODES=2");
    try (PodServer server =
        PodServer.start(
            folder,
            "",
            "node_grace_seconds",
            "0",
            "node_selector",
            "kubernetes.io/hostname=node2")) {
      String id = server.create("{}");
      TestCluster cluster = TestCluster.get();
      cluster.signalKubelet("node2", "STOP");
      try {
        assertThat(cause(server, id, CLUSTER_GIVES_UP)).contains("DeletionByTaintManager");
      } finally {
        cluster.signalKubelet("node2", "CONT");
      }
      cluster.kubectl("wait", "--for=condition=Ready", "node/node2", "--timeout=60s");
    }
  }
}
