package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** A terminal client that tracks its offset, as a client that reconnects must. */
final class TerminalClient implements WebSocket.Listener, AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};

  /** Returned in place of a close code when the connection was lost. */
  static final int CUT_OFF = 0;

  /** The end of the connection. */
  private record Ended(int code) {}

  private final HttpClient http = HttpClient.newHttpClient();
  private final LinkedBlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
  private final StringBuilder text = new StringBuilder();
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
  private final WebSocket socket;
  private long offset;

  private TerminalClient(String url, Map<String, String> headers, List<String> protocols) {
    WebSocket.Builder builder = http.newWebSocketBuilder().connectTimeout(Duration.ofSeconds(20));
    headers.forEach(builder::header);
    builder.subprotocols(
        protocols.getFirst(), protocols.subList(1, protocols.size()).toArray(new String[0]));
    socket = builder.buildAsync(URI.create(url), this).join();
  }

  static TerminalClient open(TestClient client, String path) {
    return open(
        client.port(),
        path,
        Map.of("Authorization", "Bearer " + client.key()),
        List.of("isola.terminal.v1"));
  }

  static TerminalClient open(
      int port, String path, Map<String, String> headers, List<String> protocols) {
    return new TerminalClient("ws://127.0.0.1:" + port + path, headers, protocols);
  }

  String protocol() {
    return socket.getSubprotocol();
  }

  long offset() {
    return offset;
  }

  /** Returns all output received so far. */
  String output() {
    return seen.toString(UTF_8);
  }

  byte[] bytes() {
    return seen.toByteArray();
  }

  TerminalClient type(String words) {
    socket.sendBinary(ByteBuffer.wrap(words.getBytes(UTF_8)), true).join();
    return this;
  }

  TerminalClient sendText(String json) {
    socket.sendText(json, true).join();
    return this;
  }

  WebSocket socket() {
    return socket;
  }

  /** Waits until the output contains this text. */
  void until(String words) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!output().contains(words)) {
      Object next = arrived.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      assertThat(next).as("waited for '" + words + "', saw '" + output() + "'").isNotNull();
      assertThat(next).as("after '" + output() + "'").isNotInstanceOf(Ended.class);
      take(next);
    }
  }

  /** Waits for the next text message; output before it is recorded. */
  Map<String, Object> text() throws InterruptedException {
    while (true) {
      Object next = arrived.poll(60, TimeUnit.SECONDS);
      assertThat(next).as("saw '" + output() + "'").isNotNull().isNotInstanceOf(Ended.class);
      if (take(next) instanceof String words) {
        return JSON.readValue(words, MAP);
      }
    }
  }

  /** Waits for the close of the socket; returns the close code. */
  int closed() throws InterruptedException {
    while (true) {
      Object next = arrived.poll(60, TimeUnit.SECONDS);
      assertThat(next).as("not closed").isNotNull();
      if (next instanceof Ended(int code)) {
        return code;
      }
      take(next);
    }
  }

  private @Nullable Object take(@Nullable Object next) {
    if (next instanceof byte[] bytes) {
      seen.writeBytes(bytes);
      offset += bytes.length;
    } else if (next instanceof String words
        && JSON.readValue(words, MAP).get("offset") instanceof Number told) {
      offset = told.longValue();
    }
    return next;
  }

  @Override
  public @Nullable CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
    byte[] bytes = new byte[data.remaining()];
    data.get(bytes);
    arrived.add(bytes);
    from.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      arrived.add(text.toString());
      text.setLength(0);
    }
    from.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket from, int status, String reason) {
    arrived.add(new Ended(status));
    return null;
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    arrived.add(new Ended(CUT_OFF));
  }

  @Override
  public void close() {
    socket.abort();
    http.shutdownNow();
  }
}
