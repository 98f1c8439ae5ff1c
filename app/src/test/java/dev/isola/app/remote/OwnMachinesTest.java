package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.LiveServer;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import dev.isola.provider.http.HttpProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** B9: sandboxes on three servers of one operator, which are processes of this machine here. */
@Timeout(300)
class OwnMachinesTest {
  @TempDir Path folder;

  private final Deque<LiveServer> open = new ArrayDeque<>();

  @AfterEach
  void close() {
    open.forEach(LiveServer::close);
  }

  private LiveServer machine(String name) {
    return opened(
        LiveServer.start(folder.resolve(name), new SubprocessProviderFactory(), "floor=process"));
  }

  private LiveServer opened(LiveServer server) {
    open.push(server);
    return server;
  }

  @Test
  void sandboxesAreSpreadOverTheMachines() throws Exception {
    LiveServer attic = machine("attic");
    LiveServer cellar = machine("cellar");
    LiveServer front =
        opened(
            LiveServer.start(
                folder.resolve("front"),
                List.of(new SubprocessProviderFactory(), new HttpProviderFactory()),
                "floor=process",
                "allow_process=true",
                "health.interval=5s",
                "providers.attic.type=http",
                "providers.attic.own=true",
                "providers.attic.capacity_memory_mb=100000",
                "providers.attic.url=" + attic.url + "/backend",
                "providers.attic.key=" + LiveServer.KEY,
                "providers.cellar.type=http",
                "providers.cellar.own=true",
                "providers.cellar.capacity_memory_mb=100000",
                "providers.cellar.url=" + cellar.url + "/backend",
                "providers.cellar.key=" + LiveServer.KEY));
    try (Isola isola = Isola.connect(front.url, LiveServer.KEY)) {
      await().until(() -> healthy(isola).containsAll(List.of("attic", "cellar")));
      Map<String, Integer> counts = counts(isola, 9);
      assertThat(counts).containsOnlyKeys("attic", "cellar", "subprocess");
      assertThat(counts.values()).allMatch(count -> count >= 2);

      open.remove(cellar);
      cellar.close();
      Map<String, Integer> after = counts(isola, 6);
      assertThat(after).containsOnlyKeys("attic", "subprocess");
    }
  }

  private static List<Object> healthy(Isola isola) {
    return isola.providers().stream()
        .filter(one -> "healthy".equals(one.get("status")))
        .<Object>map(one -> one.get("name"))
        .toList();
  }

  /** Creates sandboxes, counts them by provider, and destroys them. */
  private static Map<String, Integer> counts(Isola isola, int sandboxes) {
    List<Sandbox> created = new ArrayList<>();
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < sandboxes; i++) {
      Sandbox sandbox = isola.create(SandboxSpec.builder().provider("auto").build());
      created.add(sandbox);
      assertThat(sandbox.exec("echo here").stdout()).isEqualTo("here\n");
      counts.merge(sandbox.info().provider(), 1, Integer::sum);
    }
    created.forEach(sandbox -> sandbox.destroy(true));
    return counts;
  }
}
