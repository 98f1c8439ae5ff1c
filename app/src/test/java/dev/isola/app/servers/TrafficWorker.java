package dev.isola.app.servers;

import dev.isola.app.servers.Observations.CommandOutput;
import dev.isola.codec.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** A client that creates sandboxes, works in them, and remembers what servers acknowledged. */
final class TrafficWorker implements Runnable {
  private static final Set<Integer> NONE = Set.of();

  /** The sandbox is gone, which is an answer to a repeated destroy. */
  private static final Set<Integer> GONE = Set.of(404, 410);

  private static final int LINES = 60;
  private static final int MAX_KEPT = 2;
  private static final int FEW_LINES = 200;

  /** More than the server that gets a request reads before the owner agrees. */
  private static final int MANY_LINES = 40_000;

  private final String name;
  private final TrafficClient client;
  private final BooleanSupplier continues;
  private final Random random;
  final Map<String, List<String>> created = new LinkedHashMap<>();
  final Set<String> destroyed = new LinkedHashSet<>();
  final List<CommandOutput> commands = new ArrayList<>();
  final Map<String, Integer> starts = new LinkedHashMap<>();
  final Set<String> acknowledgedStarts = new LinkedHashSet<>();
  private final List<String> kept = new ArrayList<>();

  TrafficWorker(String name, TrafficClient client, BooleanSupplier continues, long seed) {
    this.name = name;
    this.client = client;
    this.continues = continues;
    random = new Random(seed);
  }

  @Override
  public void run() {
    try {
      for (int round = 0; continues.getAsBoolean(); round++) {
        round(name + "-" + round);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      client.problems.add("worker " + name + " failed: " + e);
    }
  }

  private void round(String word) throws InterruptedException {
    String id = create(word);
    if (id.isEmpty()) {
      return;
    }
    if (random.nextInt(3) == 0) {
      create(word); // the same key again
    }
    command(id, word);
    file(id, word);
    client.repeat(
        client
            .request("/api/v1/sandboxes/" + id + "/renew")
            .header("Content-Type", "application/json")
            .POST(TrafficClient.json(Map.of("ttlSeconds", 1800)))
            .build(),
        NONE);
    countStarts(id);
    if (kept.size() < MAX_KEPT && random.nextInt(4) == 0) {
      kept.add(id);
    } else {
      destroy(id);
    }
  }

  private String create(String key) throws InterruptedException {
    HttpRequest request =
        client
            .request("/api/v1/sandboxes")
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .POST(TrafficClient.json(Map.of("ttlSeconds", 1800)))
            .build();
    TrafficClient.Answer answer = client.repeat(request, NONE);
    if (!answer.isSuccess()) {
      client.problems.add("create with key " + key + " answered " + TrafficClient.text(answer));
      return "";
    }
    String id = answer.field("id");
    created.computeIfAbsent(key, any -> new ArrayList<>()).add(id);
    return id;
  }

  private void destroy(String id) throws InterruptedException {
    HttpRequest request =
        client.request("/api/v1/sandboxes/" + id + "?force=true").DELETE().build();
    try {
      TrafficClient.Answer first = client.once(request);
      if (first.isSuccess()) {
        destroyed.add(id);
        return;
      }
      if (GONE.contains(first.status())) {
        client.problems.add(id + " was gone before a client destroyed it");
        return;
      }
      if (!client.isTemporary(first)) {
        client.problems.add("destroying " + id + " answered " + TrafficClient.text(first));
        return;
      }
    } catch (IOException e) {
      client.count("connection lost");
    }
    // The first attempt may have had an effect.
    TrafficClient.Answer answer = client.repeat(request, GONE);
    if (answer.isSuccess() || GONE.contains(answer.status())) {
      destroyed.add(id);
    }
  }

  /** Starts a command and follows its output to the end. An unknown outcome is not repeated. */
  private void command(String id, String word) throws InterruptedException {
    String script =
        "echo "
            + word
            + " >> starts; i=0; while [ $i -lt "
            + LINES
            + " ]; do echo "
            + word
            + " line $i of output; i=$((i+1)); sleep 0.02; done";
    for (int attempt = 0; attempt < 100; attempt++) {
      String marked = word + "." + attempt;
      try {
        TrafficClient.Answer answer =
            client.once(
                client
                    .request("/api/v1/sandboxes/" + id + "/executions")
                    .header("Content-Type", "application/json")
                    .POST(
                        TrafficClient.json(
                            Map.of("argv", List.of("/bin/sh", "-c", script.replace(word, marked)))))
                    .build());
        if (answer.isSuccess()) {
          acknowledgedStarts.add(marked);
          follow(id, answer.field("id"), marked);
          return;
        }
        if (!client.isTemporary(answer)) {
          client.problems.add("start in " + id + " answered " + TrafficClient.text(answer));
          return;
        }
      } catch (IOException e) {
        client.count("connection lost");
      }
      TrafficClient.pause();
    }
    client.problems.add("no command could be started in " + id);
  }

  private void follow(String id, String execution, String word) throws InterruptedException {
    StringBuilder expected = new StringBuilder();
    for (int i = 0; i < LINES; i++) {
      expected.append(word).append(" line ").append(i).append(" of output\n");
    }
    OutputReader reader = new OutputReader();
    String path = "/api/v1/sandboxes/" + id + "/executions/" + execution + "/output";
    for (int attempt = 0; attempt < 1200 && !reader.exited; attempt++) {
      try {
        reader.read(
            client.open(
                client
                    .request(path + "?offset=" + reader.offset)
                    .header("Accept", "text/event-stream")
                    .GET()
                    .build()));
      } catch (IOException e) {
        client.count("output stream lost");
      }
      if (!reader.exited) {
        TrafficClient.pause();
      }
    }
    commands.add(
        new CommandOutput(
            word + " in " + id, expected + "exit 0", reader.text + "exit " + reader.exitCode));
  }

  /** Puts the output together from the pieces of several streams. */
  private final class OutputReader {
    private final StringBuilder text = new StringBuilder();
    private long offset;
    private boolean exited;
    private String exitCode = "never";

    private void read(HttpResponse<InputStream> response) throws IOException {
      try (InputStream body = response.body()) {
        if (response.statusCode() != 200) {
          TrafficClient.Answer answer =
              new TrafficClient.Answer(response.statusCode(), body.readAllBytes());
          if (!client.isTemporary(answer)) {
            client.problems.add("output answered " + TrafficClient.text(answer));
          }
          return;
        }
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        String event = "";
        String data = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.startsWith("event: ")) {
            event = line.substring(7);
          } else if (line.startsWith("data: ")) {
            data = line.substring(6);
          } else if (line.isEmpty() && !data.isEmpty()) {
            accept(event, Json.parseObject(data));
            data = "";
          }
        }
      }
    }

    private void accept(String event, Map<String, Object> data) {
      switch (event) {
        case "output" -> {
          String piece = String.valueOf(data.get("data"));
          byte[] bytes =
              "base64".equals(data.get("encoding"))
                  ? Base64.getDecoder().decode(piece)
                  : piece.getBytes(StandardCharsets.UTF_8);
          long at = Long.parseLong(String.valueOf(data.get("offset")));
          if (at != offset) {
            text.append("[at ").append(at).append(" in place of ").append(offset).append(']');
          }
          text.append(new String(bytes, StandardCharsets.UTF_8));
          offset = at + bytes.length;
        }
        case "gap" -> text.append("[gap]");
        case "exit" -> {
          exited = true;
          exitCode = String.valueOf(data.get("exitCode"));
        }
        case "error" -> client.count("output event " + data.get("code"));
        default -> {}
      }
    }
  }

  private void file(String id, String word) throws InterruptedException {
    String path = "/api/v1/sandboxes/" + id + "/files/content?path=data.txt";
    String content = (word + "\n").repeat(random.nextInt(3) == 0 ? MANY_LINES : FEW_LINES);
    client.repeat(client.request(path).PUT(BodyPublishers.ofString(content)).build(), NONE);
    TrafficClient.Answer answer = client.repeat(client.request(path).GET().build(), NONE);
    String found = new String(answer.body(), StandardCharsets.UTF_8);
    commands.add(new CommandOutput("file of " + id, content, found));
  }

  /** Counts how often each command of a sandbox has started. */
  private void countStarts(String id) throws InterruptedException {
    TrafficClient.Answer answer =
        client.repeat(
            client.request("/api/v1/sandboxes/" + id + "/files/content?path=starts").GET().build(),
            NONE);
    new String(answer.body(), StandardCharsets.UTF_8)
        .lines()
        .forEach(line -> starts.merge(line, 1, Integer::sum));
  }
}
