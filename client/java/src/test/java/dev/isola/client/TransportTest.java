package dev.isola.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.OutcomeUnknown;
import dev.isola.client.error.ProviderUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which requests are retried, against a server with scripted failures. */
@Timeout(60)
class TransportTest {
  /** Responds to a request, or drops it. */
  private interface ScriptedResponse {
    void answer(HttpExchange exchange) throws IOException;
  }

  private static final ScriptedResponse HANG_UP = HttpExchange::close;
  private static final String SANDBOX =
      "{\"id\":\"box\",\"state\":\"running\",\"provider\":\"p\",\"isolation\":\"vm\","
          + "\"createdAt\":\"2026-01-01T00:00:00Z\",\"lastActivity\":\"2026-01-01T00:00:00Z\"}";

  private final Queue<ScriptedResponse> responses = new ArrayDeque<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final List<String> keys = new CopyOnWriteArrayList<>();
  private HttpServer server;
  private Isola isola;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
    isola =
        Isola.connect(
            IsolaOptions.of("http://127.0.0.1:" + server.getAddress().getPort(), "key")
                .withReconnectFor(Duration.ofMillis(500)));
  }

  @AfterEach
  void end() {
    isola.close();
    server.stop(0);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (InputStream body = exchange.getRequestBody()) {
      body.readAllBytes();
    }
    requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
    keys.addAll(exchange.getRequestHeaders().getOrDefault("Idempotency-Key", List.of()));
    ScriptedResponse turn;
    synchronized (responses) {
      turn = responses.isEmpty() ? HANG_UP : responses.remove();
    }
    turn.answer(exchange);
  }

  private static ScriptedResponse json(int status, String body) {
    return exchange -> {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(bytes);
      }
    };
  }

  private static ScriptedResponse problem(int status, String code) {
    return json(status, "{\"code\":\"" + code + "\",\"detail\":\"it\",\"remedy\":\"do\"}");
  }

  /** Sends events and closes the connection, like a server that stops. */
  private static ScriptedResponse events(String... events) {
    return exchange -> {
      exchange.sendResponseHeaders(200, 0);
      try (OutputStream out = exchange.getResponseBody()) {
        for (String event : events) {
          out.write((event + "\n\n").getBytes(StandardCharsets.UTF_8));
        }
      }
    };
  }

  private static String output(long offset, String text) {
    return "event: output\ndata: {\"offset\":"
        + offset
        + ",\"channel\":\"stdout\",\"encoding\":\"utf8\",\"data\":\""
        + text
        + "\"}";
  }

  private static final String EXIT = "event: exit\ndata: {\"kind\":\"exited\",\"code\":0}";

  @Test
  void retriesReadsWhileTheServerIsUnavailable() {
    responses.add(problem(503, "PROVIDER_UNAVAILABLE"));
    responses.add(json(200, SANDBOX));
    assertThat(isola.sandbox("box").info().id()).isEqualTo("box");
    assertThat(requests).hasSize(2);
  }

  @Test
  void stopsAfterTheConfiguredAttempts() {
    for (int i = 0; i < 10; i++) {
      responses.add(problem(503, "PROVIDER_UNAVAILABLE"));
    }
    assertThatThrownBy(() -> isola.sandbox("box").info()).isInstanceOf(ProviderUnavailable.class);
    assertThat(requests).hasSize(3);
  }

  @Test
  void doesNotRetryAnsweredRequests() {
    responses.add(problem(400, "INVALID_REQUEST"));
    assertThatThrownBy(() -> isola.sandbox("box").info()).isInstanceOf(InvalidRequest.class);
    assertThat(requests).hasSize(1);
  }

  @Test
  void retriesCreateWithTheSameIdempotencyKey() {
    responses.add(HANG_UP);
    responses.add(problem(503, "PROVIDER_UNAVAILABLE"));
    responses.add(json(201, SANDBOX));
    assertThat(isola.create(SandboxSpec.DEFAULT).id()).isEqualTo("box");
    assertThat(keys).hasSize(3).containsOnly(keys.getFirst());
    responses.add(json(201, SANDBOX));
    isola.create(SandboxSpec.DEFAULT);
    assertThat(keys.getLast()).isNotEqualTo(keys.getFirst());
  }

  @Test
  void doesNotRetryFailedCreation() {
    responses.add(problem(503, "SPAWN_FAILED"));
    assertThatThrownBy(() -> isola.create(SandboxSpec.DEFAULT))
        .isInstanceOf(ProviderUnavailable.class);
    assertThat(requests).hasSize(1);
  }

  @Test
  void neverRunsACommandTwice() {
    responses.add(HANG_UP);
    assertThatThrownBy(() -> isola.sandbox("box").exec("rm x")).isInstanceOf(OutcomeUnknown.class);
    responses.add(HANG_UP);
    assertThatThrownBy(() -> isola.sandbox("box").start(Command.shell("rm x")))
        .isInstanceOf(OutcomeUnknown.class);
    responses.add(problem(503, "PROVIDER_UNAVAILABLE"));
    assertThatThrownBy(() -> isola.sandbox("box").exec("rm x"))
        .isInstanceOf(ProviderUnavailable.class);
    responses.add(HANG_UP);
    assertThatThrownBy(() -> isola.sandbox("box").files().remove("x", false))
        .isInstanceOf(OutcomeUnknown.class);
    assertThat(requests).hasSize(4);
  }

  @Test
  void outputResumesWithoutDuplicates() {
    responses.add(events(output(0, "one "), output(4, "two ")));
    responses.add(problem(503, "PROVIDER_UNAVAILABLE"));
    responses.add(HANG_UP);
    // The server repeats some output and skips some.
    responses.add(events(output(0, "one two thr"), "event: output\ndata: {\"offset\":11"));
    responses.add(events(output(11, "ee"), EXIT));
    StringBuilder text = new StringBuilder();
    try (Execution execution = isola.sandbox("box").execution("7", 0)) {
      for (Optional<Output> piece = execution.read(); piece.isPresent(); piece = execution.read()) {
        text.append(((Output.Data) piece.get()).text());
      }
      assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    }
    assertThat(text).hasToString("one two three");
    assertThat(requests.getFirst()).endsWith("/executions/7/output?offset=0");
    assertThat(requests.getLast()).endsWith("offset=11");
  }

  @Test
  void reportsLostOutputAsAGap() {
    responses.add(
        events(
            output(0, "a"), "event: gap\ndata: {\"offset\":1,\"lost\":9}", output(10, "b"), EXIT));
    try (Execution execution = isola.sandbox("box").execution("7", 0)) {
      execution.read();
      assertThat(execution.read()).contains(new Output.Gap(1, 9));
      assertThat(execution.read().orElseThrow().offset()).isEqualTo(10);
      assertThat(execution.read()).isEmpty();
    }
  }

  @Test
  void streamStopsReconnectingAfterTheTimeout() {
    responses.add(events(output(0, "a")));
    try (Execution execution = isola.sandbox("box").execution("7", 0)) {
      assertThat(execution.read()).isPresent();
      assertThat(catchThrowableOfType(ProviderUnavailable.class, execution::read).code())
          .isEqualTo("SERVER_UNREACHABLE");
    }
    assertThat(requests.size()).isGreaterThan(2);
  }

  @Test
  void errorEventIsThrown() {
    responses.add(
        events("event: error\ndata: {\"code\":\"SANDBOX_DESTROYED\",\"detail\":\"it is gone\"}"));
    try (Execution execution = isola.sandbox("box").execution("7", 0)) {
      assertThatThrownBy(execution::read)
          .isInstanceOf(dev.isola.client.error.Gone.class)
          .hasMessageContaining("it is gone");
    }
  }

  @Test
  void responsesOfOtherServersAreRejected() {
    responses.add(json(200, "<html>"));
    assertThatThrownBy(() -> isola.sandbox("box").info()).hasMessageContaining("cannot be read");
    responses.add(json(404, "<html>"));
    assertThatThrownBy(() -> isola.sandbox("box").info())
        .isInstanceOf(dev.isola.client.error.NotFound.class)
        .hasMessageContaining("status 404");
    responses.add(json(200, "{\"id\":\"box\"}"));
    assertThatThrownBy(() -> isola.sandbox("box").info()).hasMessageContaining("'state'");
  }

  @Test
  void pathSegmentsAreEncoded() {
    responses.add(json(200, "{}"));
    assertThatThrownBy(() -> isola.sandbox("../keys?x#y z").info());
    assertThat(requests).containsExactly("GET /api/v1/sandboxes/..%2Fkeys%3Fx%23y%20z");
  }
}
