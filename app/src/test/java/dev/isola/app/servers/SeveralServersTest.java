package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.app.LiveServer;
import dev.isola.app.servers.Observations.CommandOutput;
import dev.isola.app.servers.Observations.Event;
import dev.isola.codec.json.Json;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C22, C23: three servers on one PostgreSQL, behind a balancer, with sandboxes on another machine.
 * Servers are killed, and PostgreSQL is restarted and stopped, while clients work.
 *
 * <p>{@code -Disola.servers.kills=200} is the long run.
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
class SeveralServersTest {
  private static final int KILLS = Integer.getInteger("isola.servers.kills", 5);
  private static final int SERVERS = Integer.getInteger("isola.servers.count", 3);
  private static final int WORKERS = Integer.getInteger("isola.servers.workers", 4);
  private static final long SEED = Long.getLong("isola.servers.seed", System.nanoTime());
  private static final int PROBES = 6;
  private static final Duration RECOVERY_LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder;
  private final Random random = new Random(SEED);
  private final List<FrontServer> fronts = new ArrayList<>();
  private final AtomicBoolean working = new AtomicBoolean(true);
  private EmbeddedPostgres postgres;
  private LiveServer machine;
  private TcpBalancer balancer;
  private TrafficClient client;

  @BeforeEach
  void start() throws Exception {
    assumeTrue(Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    postgres =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder.resolve("postgres"))
            .setCleanDataDirectory(false)
            .setPGStartupWait(Duration.ofSeconds(60))
            .start();
    machine =
        LiveServer.start(
            folder.resolve("machine"), new BubblewrapProviderFactory(), "floor=container");
    for (int i = 0; i < SERVERS; i++) {
      fronts.add(front(i));
    }
    balancer = new TcpBalancer(fronts.stream().map(one -> one.port).toList(), SEED);
    client = new TrafficClient(balancer.url());
    for (FrontServer front : fronts) {
      awaitReady(front);
    }
  }

  private FrontServer front(int number) throws IOException {
    int port = FrontServer.freePort();
    List<String> settings =
        new ArrayList<>(
            List.of(
                "store.url=postgresql://postgres:postgres@localhost:"
                    + postgres.getPort()
                    + "/postgres",
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

  private void awaitReady(FrontServer front) {
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

  @AfterEach
  void stop() throws Exception {
    working.set(false);
    if (client != null) {
      destroyAll();
      client.close();
      balancer.close();
    }
    for (FrontServer front : fronts) {
      front.close();
    }
    if (machine != null) {
      machine.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  /** Destroys the sandboxes of the machine, whose processes would outlive the test. */
  private void destroyAll() throws Exception {
    try (TrafficClient direct = new TrafficClient(machine.url)) {
      for (Map<String, Object> one : sandboxes(direct)) {
        direct.once(
            direct.request("/api/v1/sandboxes/" + one.get("id") + "?force=true").DELETE().build());
      }
    }
  }

  /** Lists the sandboxes of a server that are not destroyed. */
  private static List<Map<String, Object>> sandboxes(TrafficClient client) throws Exception {
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
  private interface Disturbance {
    void disturb() throws Exception;
  }

  /** Runs clients during a disturbance and returns what they were promised and found. */
  private Observations workDuring(Disturbance disturbance) throws Exception {
    List<EventFeedReader> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(new EventFeedReader(client));
    }
    List<TrafficWorker> workers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      TrafficWorker worker = new TrafficWorker("w" + i, client, working::get, SEED + i);
      workers.add(worker);
      threads.add(Thread.ofVirtual().name("worker-" + i).start(worker));
    }
    disturbance.disturb();
    working.set(false);
    for (Thread thread : threads) {
      assertThat(thread.join(Duration.ofMinutes(5))).as("a client is stuck").isTrue();
    }
    return observe(workers, readers);
  }

  private Observations observe(List<TrafficWorker> workers, List<EventFeedReader> readers)
      throws Exception {
    Map<String, List<String>> created = new LinkedHashMap<>();
    Set<String> destroyed = new LinkedHashSet<>();
    List<CommandOutput> commands = new ArrayList<>();
    Map<String, Integer> starts = new LinkedHashMap<>();
    Set<String> acknowledged = new LinkedHashSet<>();
    for (TrafficWorker worker : workers) {
      created.putAll(worker.created);
      destroyed.addAll(worker.destroyed);
      commands.addAll(worker.commands);
      worker.starts.forEach((word, count) -> starts.merge(word, count, Integer::sum));
      acknowledged.addAll(worker.acknowledgedStarts);
    }
    awaitSettled();
    Map<String, String> states = new LinkedHashMap<>();
    for (List<String> ids : created.values()) {
      for (String id : new HashSet<>(ids)) {
        TrafficClient.Answer answer =
            client.repeat(
                client.request("/api/v1/sandboxes/" + id).GET().build(), Set.of(404, 410));
        states.put(id, answer.isSuccess() ? answer.field("state") : "absent");
      }
    }
    Set<String> ledger = new LinkedHashSet<>();
    sandboxes(client).forEach(one -> ledger.add(String.valueOf(one.get("id"))));
    List<Event> recorded = recorded();
    long last = recorded.isEmpty() ? 0 : recorded.getLast().number();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> readers.stream().allMatch(one -> one.lastNumber() >= last));
    List<List<Event>> events = new ArrayList<>();
    for (EventFeedReader reader : readers) {
      events.add(reader.seen().stream().filter(event -> event.number() <= last).toList());
      reader.close();
    }
    return new Observations(
        created,
        destroyed,
        commands,
        events,
        recorded,
        states,
        ledger,
        onMachine(),
        starts,
        acknowledged);
  }

  /** Waits until the machine has what the ledger has: some work continues after its client. */
  private void awaitSettled() {
    try {
      await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptions()
          .until(
              () -> {
                Set<String> ledger = new HashSet<>();
                for (Map<String, Object> one : sandboxes(client)) {
                  if (!"running".equals(one.get("state"))) {
                    return false;
                  }
                  ledger.add(String.valueOf(one.get("id")));
                }
                return ledger.equals(onMachine());
              });
    } catch (ConditionTimeoutException e) {
      // The verifier says what differs.
    }
  }

  /** Returns the sandboxes of the machine by their id in the ledger of the servers. */
  private Set<String> onMachine() throws Exception {
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

  private List<Event> recorded() throws Exception {
    TrafficClient.Answer answer =
        client.repeat(
            client.request("/api/v1/events?after=0&follow=false").GET().build(), Set.of());
    List<Event> events = new ArrayList<>();
    new String(answer.body(), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith("data: "))
        .forEach(line -> events.add(EventFeedReader.event(Json.parseObject(line.substring(6)))));
    return events;
  }

  private void report(String what, Observations seen) {
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

  private void verify(Observations seen) {
    assertThat(client.problems).as("failures that were not announced as temporary").isEmpty();
    assertThat(ServersVerifier.verify(seen)).isEmpty();
    assertThat(seen.created()).isNotEmpty();
    assertThat(seen.commands()).isNotEmpty();
  }

  @Test
  void killedServersLoseDoubleLeakAndResurrectNothing() throws Exception {
    List<Long> recoveries = new ArrayList<>();
    Observations seen =
        workDuring(
            () -> {
              List<String> probes = createProbes();
              for (int kill = 0; kill < KILLS; kill++) {
                Thread.sleep(500 + random.nextInt(1500));
                FrontServer victim = fronts.get(random.nextInt(fronts.size()));
                long killed = System.nanoTime();
                victim.kill();
                if (SERVERS == 1) {
                  victim.restart();
                }
                recoveries.add(awaitRecovery(probes, victim, killed));
                if (SERVERS > 1) {
                  victim.restart();
                }
                awaitReady(victim);
              }
              for (String probe : probes) {
                client.repeat(
                    client.request("/api/v1/sandboxes/" + probe + "?force=true").DELETE().build(),
                    Set.of(404, 410));
              }
            });
    report(KILLS + " kills of " + SERVERS + " servers", seen);
    Collections.sort(recoveries);
    System.out.println(
        "recovery after a kill, ms: p50 "
            + percentile(recoveries, 50)
            + ", p99 "
            + percentile(recoveries, 99)
            + ", max "
            + percentile(recoveries, 100));
    verify(seen);
  }

  private static long percentile(List<Long> sorted, int percent) {
    int rank = (int) Math.ceil(sorted.size() * percent / 100.0);
    return sorted.get(Math.max(0, rank - 1));
  }

  /** Creates sandboxes at all servers. */
  private List<String> createProbes() throws Exception {
    List<String> probes = new ArrayList<>();
    for (int i = 0; i < PROBES; i++) {
      FrontServer front = fronts.get(i % fronts.size());
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
        probes.add(answer.field("id"));
      }
    }
    return probes;
  }

  /** Returns the milliseconds until all probes run a command again at another server. */
  private long awaitRecovery(List<String> probes, FrontServer victim, long killedNanos)
      throws Exception {
    FrontServer other = fronts.stream().filter(one -> one != victim).findFirst().orElse(victim);
    try (TrafficClient direct = new TrafficClient(other.url())) {
      for (String probe : probes) {
        while (!answers(direct, probe)) {
          assertThat(System.nanoTime() - killedNanos)
              .as("sandbox " + probe + " does not answer after the kill of " + victim.name)
              .isLessThan(RECOVERY_LIMIT.toNanos());
          Thread.sleep(20);
        }
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

  @Test
  void postgresMayRestartAndStall() throws Exception {
    Observations seen =
        workDuring(
            () -> {
              Thread.sleep(3000);
              stall(Duration.ofSeconds(4));
              Thread.sleep(3000);
              restartPostgres();
              Thread.sleep(5000);
            });
    report("PostgreSQL stalled and restarted", seen);
    verify(seen);
    assertThat(client.temporary).as("the disturbance was noticed").isNotEmpty();
  }

  private long postmaster() throws IOException {
    Path file = folder.resolve("postgres").resolve("postmaster.pid");
    return Long.parseLong(Files.readAllLines(file).getFirst().strip());
  }

  /** Stops all processes of PostgreSQL for a while, as a machine without processor time would. */
  private void stall(Duration time) throws Exception {
    List<Long> all = new ArrayList<>();
    ProcessHandle main = ProcessHandle.of(postmaster()).orElseThrow();
    all.add(main.pid());
    main.descendants().forEach(one -> all.add(one.pid()));
    signal("STOP", all);
    try {
      Thread.sleep(time);
    } finally {
      signal("CONT", all);
    }
  }

  private static void signal(String signal, List<Long> processes) throws Exception {
    List<String> words = new ArrayList<>(List.of("kill", "-" + signal));
    processes.forEach(one -> words.add(Long.toString(one)));
    new ProcessBuilder(words).start().waitFor();
  }

  /** Restarts PostgreSQL at the same port with the same data, after an immediate shutdown. */
  private void restartPostgres() throws Exception {
    int port = postgres.getPort();
    ProcessHandle main = ProcessHandle.of(postmaster()).orElseThrow();
    signal("QUIT", List.of(main.pid()));
    main.onExit().get(30, TimeUnit.SECONDS);
    postgres.close();
    postgres =
        EmbeddedPostgres.builder()
            .setPort(port)
            .setDataDirectory(folder.resolve("postgres"))
            .setCleanDataDirectory(false)
            .setPGStartupWait(Duration.ofSeconds(60))
            .start();
  }
}
