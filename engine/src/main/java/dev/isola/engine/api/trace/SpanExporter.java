package dev.isola.engine.api.trace;

import dev.isola.codec.json.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Exports spans in batches by OTLP over HTTP on a background thread. Offering a span never blocks:
 * a span that does not fit into the queue, or cannot be delivered, is dropped and counted.
 */
final class SpanExporter implements AutoCloseable {
  private static final int QUEUE_CAPACITY = 4096;
  private static final int BATCH = 512;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final long GATHER_MS = 500;

  private final URI url;
  private final BlockingQueue<Span> waiting = new ArrayBlockingQueue<>(QUEUE_CAPACITY);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread =
      Thread.ofPlatform().daemon().name("isola-spans").unstarted(this::run);
  private volatile boolean ending;

  SpanExporter(URI url) {
    this.url = url;
    thread.start();
  }

  void offer(Span span) {
    if (ending || !waiting.offer(span)) {
      dropped.incrementAndGet();
    }
  }

  long sent() {
    return sent.get();
  }

  long dropped() {
    return dropped.get();
  }

  private void run() {
    while (!ending || !waiting.isEmpty()) {
      List<Span> batch = new ArrayList<>();
      try {
        Span first = waiting.poll(GATHER_MS, TimeUnit.MILLISECONDS);
        if (first == null) {
          continue;
        }
        batch.add(first);
        if (!ending && waiting.size() < BATCH) {
          Thread.sleep(GATHER_MS);
        }
      } catch (InterruptedException e) {
        ending = true; // queued spans are still exported
      }
      waiting.drainTo(batch, BATCH - batch.size());
      if (!batch.isEmpty()) {
        (delivered(batch) ? sent : dropped).addAndGet(batch.size());
      }
    }
  }

  private boolean delivered(List<Span> batch) {
    Map<String, Object> body =
        Map.of(
            "resourceSpans",
            List.of(
                Map.of(
                    "resource",
                    Map.of("attributes", Span.attributes(Map.of("service.name", "isola"))),
                    "scopeSpans",
                    List.of(
                        Map.of(
                            "scope",
                            Map.of("name", "isola"),
                            "spans",
                            batch.stream().map(Span::json).toList())))));
    try {
      return post(Json.bytes(body)) / 100 == 2;
    } catch (IOException | RuntimeException e) {
      return false; // the batch counts as dropped; the next one may succeed
    }
  }

  private int post(byte[] body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
    try {
      connection.setConnectTimeout((int) TIMEOUT.toMillis());
      connection.setReadTimeout((int) TIMEOUT.toMillis());
      connection.setInstanceFollowRedirects(false);
      connection.setDoOutput(true);
      connection.setFixedLengthStreamingMode(body.length);
      connection.setRequestProperty("Content-Type", "application/json");
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body);
      }
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }

  /** Exports the queued spans, up to the timeout of one batch. */
  @Override
  public void close() {
    ending = true;
    thread.interrupt();
    try {
      thread.join(TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
