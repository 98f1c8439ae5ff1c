package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.JsonValue;
import dev.isola.testing.cluster.TestCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * B13: requests over HTTP compared with kubectl, on the same cluster and in the same run. Each
 * round measures all of them, so that a change of the load affects them alike.
 */
@Timeout(900)
class PodLatencyTest {
  private static final int POOL = 3;
  private static final int COLD = 9;
  private static final int WARM = 36;
  private static final int EXEC_WARM_UP = 1000;
  private static final int EXEC_ROUNDS = 20;
  private static final int EXECS = 5;
  private static final String SMALL = "\"resources\":{\"memory\":64}";
  private static final String WARM_SPEC = "{" + SMALL + "}";
  private static final String COLD_SPEC = "{" + SMALL + ",\"env\":{\"COLD\":\"1\"}}";

  @TempDir Path folder;

  private interface Action {
    void run() throws Exception;
  }

  private static double milliseconds(Action action) throws Exception {
    long begin = System.nanoTime();
    action.run();
    return (System.nanoTime() - begin) / 1e6;
  }

  private static double median(List<Double> times) {
    List<Double> sorted = new ArrayList<>(times);
    Collections.sort(sorted);
    return sorted.get(sorted.size() / 2);
  }

  private static void awaitPool(PodServer server) {
    await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(200))
        .until(
            () ->
                server
                    .send("GET", "/metrics", "")
                    .body()
                    .lines()
                    .anyMatch(line -> line.matches("isola_pool_ready\\{.*} " + POOL + "\\.0")));
  }

  /** Runs commands in two pods in turns, so that no pod starts meanwhile. */
  private static void compareExecs(
      PodServer server,
      TestCluster cluster,
      String id,
      String plain,
      List<Double> exec,
      List<Double> kubectlExec)
      throws Exception {
    String path = PodServer.SANDBOXES + "/" + id + "/exec";
    for (int i = 0; i < EXEC_WARM_UP; i++) { // as in a server that has run for a while
      server.call("POST", path, "{\"command\":\"true\"}");
    }
    for (int round = 0; round <= EXEC_ROUNDS; round++) { // the first one warms up kubectl
      double execution = milliseconds(() -> cluster.kubectl("exec", plain, "--", "true"));
      for (int i = 0; i < EXECS; i++) {
        double time = milliseconds(() -> server.call("POST", path, "{\"command\":\"true\"}"));
        if (round > 0) {
          exec.add(time);
        }
      }
      if (round > 0) {
        kubectlExec.add(execution);
      }
    }
  }

  @Test
  void requestsAreFasterThanKubectl() throws Exception {
    Assumptions.assumeTrue(
        Boolean.getBoolean("isola.long") || Boolean.getBoolean("isola.latency"),
        "NOT RUN: only with ./check --long or -Disola.latency=true, because it takes minutes");
    String pool =
        "pool:\n  - {spec: %s, provider: kubernetes, size: %d}\n".formatted(WARM_SPEC, POOL);
    List<Double> warm = new ArrayList<>();
    List<Double> cold = new ArrayList<>();
    List<Double> kubectlRun = new ArrayList<>();
    List<Double> exec = new ArrayList<>();
    List<Double> kubectlExec = new ArrayList<>();
    // As the pods of kubectl run, whose root is root of the node.
    try (PodServer server = PodServer.start(folder, pool, "user_namespaces", "false")) {
      TestCluster cluster = TestCluster.get();
      awaitPool(server);
      for (int round = 0; round <= COLD; round++) { // the first one warms up
        String plain = "plain" + round;
        double run =
            milliseconds(
                () -> {
                  cluster.kubectl(
                      "run",
                      plain,
                      "--image=" + cluster.image(),
                      "--restart=Never",
                      "--",
                      "sleep",
                      "1000");
                  cluster.kubectl("wait", "--for=condition=Ready", "pod/" + plain);
                });
        String[] id = new String[1];
        double create = milliseconds(() -> id[0] = server.create(COLD_SPEC));
        if (round > 0) {
          kubectlRun.add(run);
          cold.add(create);
        }
        if (round == COLD) {
          compareExecs(server, cluster, id[0], plain, exec, kubectlExec);
        }
        server.call("DELETE", PodServer.SANDBOXES + "/" + id[0], "");
        cluster.kubectl("delete", "pod", plain, "--now");
      }
      for (int i = 0; i < WARM; i++) {
        awaitPool(server);
        JsonValue[] created = new JsonValue[1];
        double time =
            milliseconds(() -> created[0] = server.call("POST", PodServer.SANDBOXES, WARM_SPEC));
        assertThat(created[0].flag("warm")).isTrue();
        warm.add(time);
        String path = PodServer.SANDBOXES + "/" + created[0].text("id");
        JsonValue result = server.call("POST", path + "/exec", "{\"command\":\"true\"}");
        assertThat(result.number("exitCode")).isZero();
        server.call("DELETE", path, "");
      }
    }
    System.out.printf(
        Locale.ROOT,
        "medians in ms: warm create %.1f (n=%d), cold create %.0f, kubectl run until ready %.0f"
            + " (n=%d), command %.1f (n=%d), kubectl exec %.0f (n=%d)%n"
            + "ratios: cold create to kubectl run %.2f, kubectl exec to command %.0f%n",
        median(warm),
        warm.size(),
        median(cold),
        median(kubectlRun),
        cold.size(),
        median(exec),
        exec.size(),
        median(kubectlExec),
        kubectlExec.size(),
        median(cold) / median(kubectlRun),
        median(kubectlExec) / median(exec));
    assertThat(median(warm)).as("warm create, ms").isLessThanOrEqualTo(25);
    assertThat(median(cold) / median(kubectlRun)).as("cold to kubectl run").isLessThan(1.3);
    assertThat(median(kubectlExec) / median(exec)).as("kubectl exec to exec").isGreaterThan(20);
  }
}
