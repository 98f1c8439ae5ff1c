package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stops a server with SIGTERM and starts it again, while other servers are asked for its sandboxes
 * and requests are in progress at it.
 *
 * @param probes sandboxes that must answer all the time
 */
record RollingRestart(ServersInstallation servers, List<String> probes) {
  private static final Duration END_TIMEOUT = Duration.ofSeconds(40);

  /** How long requests at the server that stops take; less than it waits for them. */
  private static final String SECONDS = "3";

  /** Restarts a server; returns the longest time in ms that a sandbox did not answer. */
  long restart(FrontServer front) throws Exception {
    FrontServer other = servers.otherThan(front);
    AtomicLong longest = new AtomicLong();
    AtomicBoolean probing = new AtomicBoolean(true);
    CountDownLatch answered = new CountDownLatch(probes.size());
    try (TrafficClient own = new TrafficClient(front.url());
        TrafficClient elsewhere = new TrafficClient(other.url());
        Socket open = new Socket(InetAddress.getLoopbackAddress(), front.port);
        ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor()) {
      open.setSoTimeout((int) END_TIMEOUT.toMillis());
      assertThat(OpenConnections.send(open)).startsWith("HTTP/1.1 200");
      String owned = create(own);
      List<Future<TrafficClient.Answer>> inProgress = new ArrayList<>();
      inProgress.add(workers.submit(() -> slowCommand(own, owned, "own")));
      inProgress.add(workers.submit(() -> slowCommand(elsewhere, owned, "forwarded")));
      List<Future<Integer>> probers = new ArrayList<>();
      for (String probe : probes) {
        probers.add(workers.submit(() -> probe(elsewhere, probe, longest, probing, answered)));
      }
      assertThat(answered.await(60, TimeUnit.SECONDS)).as("all sandboxes answer").isTrue();
      awaitStarted(elsewhere, owned, "own");
      awaitStarted(elsewhere, owned, "forwarded");
      longest.set(0);
      front.terminate();
      assertThat(OpenConnections.awaitRefusal(open, END_TIMEOUT))
          .startsWith("HTTP/1.1 503")
          .contains("Retry-After: 1")
          .contains("Connection: close")
          .contains("PROVIDER_UNAVAILABLE");
      for (Future<TrafficClient.Answer> one : inProgress) {
        TrafficClient.Answer answer = one.get(60, TimeUnit.SECONDS);
        assertThat(answer.status()).as(TrafficClient.text(answer)).isEqualTo(200);
        assertThat(answer.field("stdout")).isEqualTo("complete\n");
      }
      int _ = front.awaitEnd(END_TIMEOUT);
      assertThat(run(elsewhere, owned, "true", Set.of()).isSuccess()).isTrue();
      probing.set(false);
      for (Future<Integer> one : probers) {
        assertThat(one.get(60, TimeUnit.SECONDS)).as("answers of a sandbox").isPositive();
      }
      servers.destroy(List.of(owned));
    }
    front.restart();
    servers.awaitReady(front);
    return longest.get();
  }

  private static String create(TrafficClient client) throws InterruptedException {
    TrafficClient.Answer answer =
        client.repeat(
            client
                .request("/api/v1/sandboxes")
                .header("Content-Type", "application/json")
                .POST(TrafficClient.json(Map.of("ttlSeconds", 1800)))
                .build(),
            Set.of());
    assertThat(answer.isSuccess()).as(TrafficClient.text(answer)).isTrue();
    return answer.field("id");
  }

  private static TrafficClient.Answer slowCommand(TrafficClient client, String id, String name)
      throws IOException, InterruptedException {
    return client.once(
        client
            .request("/api/v1/sandboxes/" + id + "/exec")
            .header("Content-Type", "application/json")
            .POST(
                TrafficClient.json(
                    Map.of(
                        "argv",
                        List.of(
                            "/bin/sh",
                            "-c",
                            "echo > " + name + "; sleep " + SECONDS + "; echo complete"))))
            .build());
  }

  private static void awaitStarted(TrafficClient client, String id, String name)
      throws InterruptedException {
    TrafficClient.Answer answer =
        run(client, id, "until [ -e " + name + " ]; do sleep 0.02; done", Set.of());
    assertThat(answer.isSuccess()).as(TrafficClient.text(answer)).isTrue();
  }

  private static TrafficClient.Answer run(
      TrafficClient client, String id, String script, Set<Integer> accepted)
      throws InterruptedException {
    return client.repeat(
        client
            .request("/api/v1/sandboxes/" + id + "/exec")
            .header("Content-Type", "application/json")
            .POST(TrafficClient.json(Map.of("argv", List.of("/bin/sh", "-c", script))))
            .build(),
        accepted);
  }

  /** Uses a sandbox again and again; records the longest time between two answers, counts them. */
  private static int probe(
      TrafficClient client,
      String id,
      AtomicLong longest,
      AtomicBoolean probing,
      CountDownLatch answered)
      throws InterruptedException {
    long last = System.nanoTime();
    int answers = 0;
    while (probing.get() || answers == 0) {
      TrafficClient.Answer answer = run(client, id, "true", Set.of());
      assertThat(answer.isSuccess()).as(TrafficClient.text(answer)).isTrue();
      long now = System.nanoTime();
      if (answers == 0) {
        answered.countDown();
      }
      answers++;
      longest.accumulateAndGet(TimeUnit.NANOSECONDS.toMillis(now - last), Math::max);
      last = now;
    }
    return answers;
  }
}
