package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Spans as a collector receives them over a socket. */
class TracesTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";

  @TempDir Path folder;
  private final List<Map<?, ?>> spans = new CopyOnWriteArrayList<>();
  private final List<String> types = new CopyOnWriteArrayList<>();
  private final CountDownLatch open = new CountDownLatch(1);
  private HttpServer collector;

  @BeforeEach
  void listen() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          types.add(exchange.getRequestHeaders().getFirst("Content-Type"));
          spans.addAll(read(exchange.getRequestBody().readAllBytes()));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.createContext(
        "/stuck",
        exchange -> {
          try {
            open.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          exchange.close();
        });
    collector.setExecutor(java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor());
    collector.start();
  }

  @AfterEach
  void stop() {
    open.countDown();
    collector.stop(0);
  }

  private static List<Map<?, ?>> read(byte[] body) {
    List<Map<?, ?>> found = new ArrayList<>();
    Map<String, Object> json =
        new JsonMapper().readValue(body, new TypeReference<Map<String, Object>>() {});
    for (Object resource : RequestFuzzer.list(json.get("resourceSpans"))) {
      assertThat(String.valueOf(RequestFuzzer.map(resource).get("resource")))
          .contains("service.name", "isola");
      for (Object scope : RequestFuzzer.list(RequestFuzzer.map(resource).get("scopeSpans"))) {
        RequestFuzzer.list(RequestFuzzer.map(scope).get("spans"))
            .forEach(span -> found.add(RequestFuzzer.map(span)));
      }
    }
    return found;
  }

  private TestServer startServer(String path) {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        context ->
            new HttpServerOptions(
                Optional.empty(),
                RequestLimits.NONE,
                List.of(),
                () -> context.current().map(parts -> parts.engine().tracer())),
        Map.of("traces.otlp.url", "http://127.0.0.1:" + collector.getAddress().getPort() + path));
  }

  private Map<?, ?> named(String name) {
    return spans.stream().filter(span -> name.equals(span.get("name"))).findFirst().orElseThrow();
  }

  @Test
  void requestContinuesTheClientTraceAndEngineSpansAreChildren() throws IOException {
    try (TestServer testServer = startServer("/v1/traces")) {
      TestClient client = testServer.client();
      Map<String, String> headers =
          Map.of(
              "traceparent",
              "00-" + TRACE + "-" + PARENT + "-01",
              "Content-Type",
              "application/json");
      String id = client.send("POST", "/api/v1/sandboxes", headers, new byte[0]).field("id");
      client.send(
          "POST",
          "/api/v1/sandboxes/" + id + "/exec",
          headers,
          "{\"command\":\"echo hunter2\"}".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      await().atMost(Duration.ofSeconds(20)).until(() -> spans.size() >= 4);

      Map<?, ?> request = named("POST /api/v1/sandboxes");
      Map<?, ?> spawn = named("spawn");
      Map<?, ?> exec = named("POST /api/v1/sandboxes/{id}/exec");
      Map<?, ?> execution = named("execution");
      for (Map<?, ?> span : List.of(request, spawn, exec, execution)) {
        assertThat(span.get("traceId")).isEqualTo(TRACE);
        assertThat(String.valueOf(span.get("spanId"))).matches("[0-9a-f]{16}");
        assertThat(Long.parseLong(String.valueOf(span.get("endTimeUnixNano"))))
            .isGreaterThanOrEqualTo(Long.parseLong(String.valueOf(span.get("startTimeUnixNano"))));
      }
      assertThat(request.get("parentSpanId")).isEqualTo(PARENT);
      assertThat(spawn.get("parentSpanId")).isEqualTo(request.get("spanId"));
      assertThat(execution.get("parentSpanId")).isEqualTo(exec.get("spanId"));
      assertThat(request.get("kind")).isEqualTo(2);
      assertThat(String.valueOf(spawn.get("attributes"))).contains("provider", "test");
      assertThat(types).containsOnly("application/json");
      assertThat(spans.toString()).doesNotContain("hunter", testServer.admin, id);
      assertThat(client.get("/metrics").text())
          .contains("isola_spans_sent_total", "isola_spans_dropped_total 0.0");
    }
  }

  @Test
  void requestWithoutTraceStartsOneAndUnsampledTraceIsNotSent() throws IOException {
    try (TestServer testServer = startServer("/v1/traces")) {
      TestClient client = testServer.client();
      String unsampled = "00-" + TRACE + "-" + PARENT + "-00";
      client.send("GET", "/api/v1/keys", Map.of("traceparent", unsampled), new byte[0]);
      for (String bad : List.of("x", "00-" + "0".repeat(32) + "-" + PARENT + "-01", "ff")) {
        client.send("GET", "/api/v1/sandboxes", Map.of("traceparent", bad), new byte[0]);
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> spans.size() >= 3);
      assertThat(spans).hasSize(3);
      assertThat(spans)
          .allSatisfy(
              span -> {
                assertThat(String.valueOf(span.get("traceId"))).matches("[0-9a-f]{32}");
                assertThat(span.get("traceId")).isNotEqualTo(TRACE);
                assertThat(span.get("parentSpanId")).isNull();
              });
    }
  }

  @Test
  void hangingCollectorDropsSpansOnly() throws IOException {
    try (TestServer testServer = startServer("/stuck")) {
      for (int i = 0; i < 6000; i++) {
        assertThat(testServer.client("").get("/healthz").status()).isEqualTo(200);
      }
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> dropped(testServer.client().get("/metrics").text()) > 0);
    }
  }

  private static double dropped(String metrics) {
    return metrics
        .lines()
        .filter(line -> line.startsWith("isola_spans_dropped_total "))
        .mapToDouble(line -> Double.parseDouble(line.split(" ")[1]))
        .findFirst()
        .orElse(0);
  }
}
