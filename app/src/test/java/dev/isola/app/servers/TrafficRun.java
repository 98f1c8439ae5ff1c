package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.servers.Observations.CommandOutput;
import dev.isola.app.servers.Observations.Event;
import dev.isola.codec.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.core.ConditionTimeoutException;

/** Clients that work while something happens to servers, and what they found. */
final class TrafficRun {
  private static final int WORKERS = Integer.getInteger("isola.servers.workers", 4);

  private final ServersInstallation servers;
  private final Probes probes;
  private final AtomicBoolean working;
  private final TrafficClient client;

  TrafficRun(ServersInstallation servers, Probes probes, AtomicBoolean working) {
    this.servers = servers;
    this.probes = probes;
    this.working = working;
    client = servers.client;
  }

  /** Runs clients during a disturbance and returns what they were promised and found. */
  Observations during(ServersInstallation.Disturbance disturbance) throws Exception {
    List<EventFeedReader> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(new EventFeedReader(client));
    }
    List<TrafficWorker> workers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      TrafficWorker worker =
          new TrafficWorker("w" + i, client, working::get, ServersInstallation.SEED + i);
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
    created.putAll(probes.created);
    destroyed.addAll(probes.destroyed);
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
    ServersInstallation.sandboxes(client).forEach(one -> ledger.add(String.valueOf(one.get("id"))));
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
        servers.onMachine(),
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
                for (Map<String, Object> one : ServersInstallation.sandboxes(client)) {
                  if (!"running".equals(one.get("state"))) {
                    return false;
                  }
                  ledger.add(String.valueOf(one.get("id")));
                }
                return ledger.equals(servers.onMachine());
              });
    } catch (ConditionTimeoutException e) {
      // The verifier says what differs.
    }
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
}
