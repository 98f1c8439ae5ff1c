package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Sandboxes that tell how long those of a server that was killed do not answer. */
final class Probes {
  private static final int COUNT = 6;
  private static final Duration RECOVERY_LIMIT = Duration.ofSeconds(60);

  private final ServersInstallation servers;
  final Map<String, List<String>> created = new LinkedHashMap<>();
  final Set<String> destroyed = new LinkedHashSet<>();

  Probes(ServersInstallation servers) {
    this.servers = servers;
  }

  /** Creates sandboxes at all servers. */
  List<String> create() throws Exception {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      FrontServer front = servers.fronts.get(i % servers.fronts.size());
      try (TrafficClient direct = new TrafficClient(front.url())) {
        TrafficClient.Answer answer =
            direct.repeat(
                direct
                    .request("/api/v1/sandboxes")
                    .header("Content-Type", "application/json")
                    .header("Idempotency-Key", "probe-" + i)
                    .POST(TrafficClient.json(Map.of("ttlSeconds", 7200)))
                    .build(),
                Set.of());
        assertThat(answer.isSuccess()).as(TrafficClient.text(answer)).isTrue();
        ids.add(answer.field("id"));
        created.put("probe-" + i, List.of(answer.field("id")));
      }
    }
    return ids;
  }

  /** Returns the milliseconds until all probes run a command again at another server. */
  long awaitRecovery(List<String> probes, FrontServer victim, long killedNanos) throws Exception {
    try (TrafficClient direct = new TrafficClient(servers.otherThan(victim).url())) {
      for (String probe : probes) {
        await("sandbox " + probe + " answers after the kill of " + victim.name)
            .atMost(RECOVERY_LIMIT)
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(20))
            .until(() -> answers(direct, probe));
      }
    }
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killedNanos);
  }

  private static boolean answers(TrafficClient direct, String probe) throws InterruptedException {
    try {
      return direct
          .once(
              direct
                  .request("/api/v1/sandboxes/" + probe + "/exec")
                  .header("Content-Type", "application/json")
                  .POST(TrafficClient.json(Map.of("argv", List.of("/bin/true"))))
                  .build())
          .isSuccess();
    } catch (IOException e) {
      return false;
    }
  }

  void destroy(List<String> sandboxes) throws InterruptedException {
    for (String id : sandboxes) {
      servers.client.repeat(
          servers.client.request("/api/v1/sandboxes/" + id + "?force=true").DELETE().build(),
          Set.of(404, 410));
      destroyed.add(id);
    }
  }
}
