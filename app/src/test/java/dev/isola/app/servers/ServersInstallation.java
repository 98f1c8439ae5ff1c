package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.app.LiveServer;
import dev.isola.conformance.UniqueResources;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Servers on one ledger in PostgreSQL, behind a balancer, with sandboxes on another machine, and
 * clients that work while something happens to the servers or the ledger.
 */
final class ServersInstallation implements AutoCloseable {
  static final int SERVERS = Integer.getInteger("isola.servers.count", 3);
  static final long SEED = Long.getLong("isola.servers.seed", System.nanoTime());

  private final Random random = new Random(SEED);
  final List<FrontServer> fronts = new ArrayList<>();
  final TrafficClient client;
  private final Path folder;
  private final String store;
  private final LiveServer machine;
  private final TcpBalancer balancer;
  private final Probes probes = new Probes(this);
  private final AtomicBoolean working = new AtomicBoolean(true);

  private ServersInstallation(Path folder, String store, List<String> more) throws IOException {
    this.folder = folder;
    this.store = store;
    machine =
        LiveServer.start(
            folder.resolve("machine"), new BubblewrapProviderFactory(), "floor=container");
    for (int i = 0; i < SERVERS; i++) {
      fronts.add(front(i, more));
    }
    balancer = new TcpBalancer(fronts.stream().map(one -> one.port).toList(), SEED);
    client = new TrafficClient(balancer.url());
  }

  /** Leaves a test that takes minutes to {@code ./check --long}. */
  static void requireLong() {
    assumeTrue(Boolean.getBoolean("isola.long"), "NOT RUN: only with ./check --long, to save time");
  }

  /**
   * Starts the machine with the sandboxes and the servers.
   *
   * @param store the URL of the ledger
   * @param more settings of every server
   */
  static ServersInstallation start(Path folder, String store, String... more) throws IOException {
    assumeTrue(Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    ServersInstallation installation = new ServersInstallation(folder, store, List.of(more));
    boolean ready = false;
    try {
      installation.fronts.forEach(installation::awaitReady);
      ready = true;
      return installation;
    } finally {
      if (!ready) {
        installation.close();
      }
    }
  }

  private FrontServer front(int number, List<String> more) throws IOException {
    int port = UniqueResources.reservePort();
    List<String> settings =
        new ArrayList<>(
            List.of(
                "store.url=" + store,
                "floor=container",
                "provider=machine",
                "health.interval=5s",
                "providers.machine.type=http",
                "providers.machine.own=true",
                "providers.machine.capacity_memory_mb=100000",
                "providers.machine.url=" + machine.url + "/backend",
                "providers.machine.key=" + LiveServer.KEY));
    if (SERVERS > 1) {
      settings.add("secrets.key=file:" + secretsKey());
      settings.add("server.peer_url=http://127.0.0.1:" + port);
    }
    settings.addAll(more);
    return FrontServer.start("front" + number, port, folder.resolve("f" + number), settings);
  }

  /** Returns the file with the key that all servers encrypt secrets with. */
  private Path secretsKey() throws IOException {
    Path file = folder.resolve("secrets.key");
    if (!Files.exists(file)) {
      byte[] key = new byte[32];
      random.nextBytes(key);
      Files.writeString(file, Base64.getEncoder().encodeToString(key) + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
    return file;
  }

  void awaitReady(FrontServer front) {
    try (TrafficClient direct = new TrafficClient(front.url())) {
      await()
          .atMost(Duration.ofMinutes(3))
          .ignoreExceptions()
          .failFast(
              () -> {
                if (!front.isRunning()) {
                  throw new AssertionError(Files.readString(front.log()));
                }
              })
          .until(() -> direct.once(direct.request("/readyz").GET().build()).status() == 200);
    }
  }

  @Override
  public void close() throws IOException {
    working.set(false);
    destroyAll();
    client.close();
    balancer.close();
    for (FrontServer front : fronts) {
      front.close();
    }
    machine.close();
  }

  /** Returns a number that is the same in a repeated run with the same seed. */
  int random(int bound) {
    return random.nextInt(bound);
  }

  /** Returns a server other than this one, if there is one. */
  FrontServer otherThan(FrontServer front) {
    return fronts.stream().filter(one -> one != front).findFirst().orElse(front);
  }

  /** Destroys the sandboxes of the machine, whose processes would outlive the test. */
  private void destroyAll() throws IOException {
    try (TrafficClient direct = new TrafficClient(machine.url)) {
      for (Map<String, Object> one : sandboxes(direct)) {
        TrafficClient.Answer _ =
            direct.once(
                direct
                    .request("/api/v1/sandboxes/" + one.get("id") + "?force=true")
                    .DELETE()
                    .build());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lists the sandboxes of a server that are not destroyed. */
  static List<Map<String, Object>> sandboxes(TrafficClient client) throws InterruptedException {
    List<Map<String, Object>> all = new ArrayList<>();
    String cursor = "";
    do {
      Map<String, Object> page =
          client
              .repeat(
                  client
                      .request(
                          "/api/v1/sandboxes?limit=1000"
                              + (cursor.isEmpty() ? "" : "&cursor=" + cursor))
                      .GET()
                      .build(),
                  Set.of())
              .json();
      List<?> found = page.get("sandboxes") instanceof List<?> list ? list : List.of();
      for (Object one : found) {
        Map<String, Object> json = new LinkedHashMap<>();
        ((Map<?, ?>) one).forEach((name, value) -> json.put(String.valueOf(name), value));
        all.add(json);
      }
      cursor = page.get("next") instanceof String next ? next : "";
    } while (!cursor.isEmpty());
    return all;
  }

  /** Something that happens to the installation while clients work. */
  interface Disturbance {
    void disturb() throws Exception;
  }

  /** Runs clients during a disturbance and returns what they were promised and found. */
  Observations workDuring(Disturbance disturbance) throws Exception {
    return new TrafficRun(this, probes, working).during(disturbance);
  }

  List<String> createProbes() throws Exception {
    return probes.create();
  }

  void destroy(List<String> sandboxes) throws InterruptedException {
    probes.destroy(sandboxes);
  }

  /** Returns the milliseconds until all probes run a command again at another server. */
  long awaitRecovery(List<String> sandboxes, FrontServer victim, long killedNanos)
      throws Exception {
    return probes.awaitRecovery(sandboxes, victim, killedNanos);
  }

  /** Returns the sandboxes of the machine by their id in the ledger of the servers. */
  Set<String> onMachine() throws InterruptedException {
    Set<String> ids = new LinkedHashSet<>();
    try (TrafficClient direct = new TrafficClient(machine.url)) {
      for (Map<String, Object> one : sandboxes(direct)) {
        if (one.get("tags") instanceof Map<?, ?> tags && tags.get("isola.peer.sandbox") != null) {
          ids.add(String.valueOf(tags.get("isola.peer.sandbox")));
        }
      }
    }
    return ids;
  }

  void report(String what, Observations seen) {
    System.out.println(
        what
            + ": seed "
            + SEED
            + ", "
            + client.requests
            + " requests, "
            + seen.created().size()
            + " sandboxes, "
            + seen.destroyed().size()
            + " destroyed, "
            + seen.commands().size()
            + " outputs and files compared, "
            + seen.recorded().size()
            + " events, temporary failures "
            + client.temporary);
  }

  void verify(Observations seen) {
    assertThat(client.problems).as("failures that were not announced as temporary").isEmpty();
    assertThat(ServersVerifier.verify(seen)).isEmpty();
    assertThat(seen.created()).isNotEmpty();
    assertThat(seen.commands()).isNotEmpty();
  }

  static long percentile(List<Long> sorted, int percent) {
    int rank = (int) Math.ceil(sorted.size() * percent / 100.0);
    return sorted.get(Math.max(0, rank - 1));
  }
}
