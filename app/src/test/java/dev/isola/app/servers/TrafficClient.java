package dev.isola.app.servers;

import static org.awaitility.Awaitility.await;

import dev.isola.app.LiveServer;
import dev.isola.codec.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sends requests and repeats those that may be repeated, as the documentation tells clients to. A
 * failure that is not announced as temporary is a problem.
 */
final class TrafficClient implements AutoCloseable {
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int MAX_ATTEMPTS = 1200;

  /** Answers that say that the same request may succeed later. */
  private static final Set<String> TEMPORARY =
      Set.of("PROVIDER_UNAVAILABLE", "RATE_LIMITED", "RESOURCE_LIMIT", "OUTCOME_UNKNOWN");

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final String url;
  final List<String> problems = new CopyOnWriteArrayList<>();
  final Map<String, AtomicInteger> temporary = new ConcurrentHashMap<>();
  final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger successes = new AtomicInteger();

  /** What was in progress when a server was killed. */
  final Map<String, AtomicInteger> hits = new ConcurrentHashMap<>();

  private final Map<String, AtomicInteger> inProgress = new ConcurrentHashMap<>();

  TrafficClient(String url) {
    this.url = url;
  }

  /** A response. */
  @SuppressWarnings("ArrayRecordComponent")
  record Answer(int status, byte[] body) {
    Map<String, Object> json() {
      return body.length == 0
          ? Map.of()
          : Json.parseObject(new String(body, StandardCharsets.UTF_8));
    }

    String field(String name) {
      return String.valueOf(json().get(name));
    }

    boolean isSuccess() {
      return status >= 200 && status < 300;
    }
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .header("Authorization", "Bearer " + LiveServer.KEY)
        .timeout(REQUEST_TIMEOUT);
  }

  HttpResponse<InputStream> open(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, BodyHandlers.ofInputStream());
  }

  /** Sends a request once. */
  Answer once(HttpRequest request) throws IOException, InterruptedException {
    requests.incrementAndGet();
    String kind = kind(request);
    AtomicInteger count = inProgress.computeIfAbsent(kind, any -> new AtomicInteger());
    count.incrementAndGet();
    try {
      HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
      Answer answer = new Answer(response.statusCode(), response.body());
      if (answer.isSuccess()) {
        successes.incrementAndGet();
      }
      return answer;
    } finally {
      count.decrementAndGet();
    }
  }

  /** Returns the route of a request, without the ids in it. */
  private static String kind(HttpRequest request) {
    return request.method()
        + " "
        + request
            .uri()
            .getPath()
            .replaceFirst("/api/v1/", "")
            .replaceFirst("sandboxes/[a-z0-9]+", "sandboxes/ID");
  }

  /** Counts the requests that are in progress now among those that a disturbance hits. */
  void countHits() {
    inProgress.forEach(
        (kind, count) -> {
          if (count.get() > 0) {
            hits.computeIfAbsent(kind, any -> new AtomicInteger()).addAndGet(count.get());
          }
        });
  }

  /** Sends a request until the answer is final. */
  Answer repeat(HttpRequest request, Set<Integer> accepted) throws InterruptedException {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        Answer answer = once(request);
        if (answer.isSuccess() || accepted.contains(answer.status())) {
          return answer;
        }
        if (!isTemporary(answer)) {
          problems.add(describe(request) + " answered " + text(answer));
          return answer;
        }
      } catch (IOException e) {
        count("connection lost");
      }
      pause();
    }
    problems.add(describe(request) + " did not succeed in " + MAX_ATTEMPTS + " attempts");
    return new Answer(0, new byte[0]);
  }

  /** Pauses before a request is repeated, as the documentation tells clients to. */
  static void pause() throws InterruptedException {
    Thread.sleep(PAUSE);
  }

  /** Waits until this client has received so many more answers that are successes. */
  void awaitSuccesses(int count) {
    int until = successes.get() + count;
    await().atMost(Duration.ofMinutes(2)).until(() -> successes.get() >= until);
  }

  /** Returns whether an answer tells the client to try again, and counts it. */
  boolean isTemporary(Answer answer) {
    String code = "";
    try {
      code = answer.field("code");
    } catch (RuntimeException e) {
      // Reported by the caller.
    }
    boolean temporary = TEMPORARY.contains(code);
    if (temporary) {
      count(answer.status() + " " + code);
    }
    return temporary;
  }

  void count(String what) {
    temporary.computeIfAbsent(what, any -> new AtomicInteger()).incrementAndGet();
  }

  static String text(Answer answer) {
    return answer.status() + " " + new String(answer.body(), StandardCharsets.UTF_8);
  }

  static String describe(HttpRequest request) {
    return request.method() + " " + request.uri().getPath();
  }

  static HttpRequest.BodyPublisher json(Map<String, Object> body) {
    return BodyPublishers.ofByteArray(Json.bytes(body));
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
