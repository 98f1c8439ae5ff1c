package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.isola.codec.digest.Sha256;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A fake S3 service for rare faults: it fails on demand and lists two keys per page. */
final class FakeS3 implements AutoCloseable {
  private static final int PAGE = 2;

  final ConcurrentSkipListMap<String, byte[]> objects = new ConcurrentSkipListMap<>();
  final ConcurrentSkipListMap<String, Instant> times = new ConcurrentSkipListMap<>();
  final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();
  final AtomicInteger asked = new AtomicInteger();
  private final HttpServer http;

  /** The fault to inject into the next request. */
  enum Fault {
    BUSY,
    FULL,
    HANG_UP,
    /** The request takes effect, but no response is sent. */
    DONE_AND_HANG_UP,
    TOO_LONG,
    NOT_A_LIST
  }

  FakeS3() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/", this::handle);
    http.start();
  }

  S3Config config() {
    return new S3Config(
        URI.create("http://127.0.0.1:" + http.getAddress().getPort()),
        "us-east-1",
        "bucket",
        "",
        true,
        "me",
        Secret.of("canary-of-the-fake"),
        Optional.empty());
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      asked.incrementAndGet();
      byte[] body = exchange.getRequestBody().readAllBytes();
      Fault fault = faults.poll();
      if (fault == null) {
        carryOut(exchange, body);
        return;
      }
      switch (fault) {
        case BUSY -> answer(exchange, 503, "<Error><Code>SlowDown</Code></Error>".getBytes(UTF_8));
        case FULL ->
            answer(exchange, 507, "<Error><Code>XMinioStorageFull</Code></Error>".getBytes(UTF_8));
        case HANG_UP -> {
          // Closed without a response.
        }
        case DONE_AND_HANG_UP -> keep(key(exchange), body);
        case TOO_LONG -> answer(exchange, 206, new byte[1 << 20]);
        case NOT_A_LIST ->
            answer(exchange, 200, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".getBytes(UTF_8));
      }
    }
  }

  private static String key(HttpExchange exchange) {
    return exchange.getRequestURI().getPath().replaceFirst("^/bucket/?", "");
  }

  private void keep(String key, byte[] body) {
    objects.put(key, body);
    times.put(key, Instant.now());
  }

  private void carryOut(HttpExchange exchange, byte[] body) throws IOException {
    String key = key(exchange);
    byte[] there = objects.get(key);
    switch (exchange.getRequestMethod()) {
      case "PUT" -> {
        String absent = exchange.getRequestHeaders().getFirst("if-none-match");
        String match = exchange.getRequestHeaders().getFirst("if-match");
        boolean other = there == null || !etag(there).equals(match);
        if ((absent != null && there != null) || (match != null && other)) {
          answer(exchange, 412, new byte[0]);
        } else {
          keep(key, body);
          exchange.getResponseHeaders().set("etag", etag(body));
          answer(exchange, 200, new byte[0]);
        }
      }
      case "DELETE" -> {
        objects.remove(key);
        answer(exchange, 204, new byte[0]);
      }
      case "GET" -> {
        if (key.isEmpty()) {
          answer(exchange, 200, list(exchange.getRequestURI().getQuery()));
        } else {
          get(exchange, key, there);
        }
      }
      case "HEAD" -> {
        if (there != null) {
          exchange.getResponseHeaders().set("content-length", Integer.toString(there.length));
        }
        answer(exchange, there == null ? 404 : 200, new byte[0]);
      }
      default -> answer(exchange, 405, new byte[0]);
    }
  }

  private void get(HttpExchange exchange, String key, byte @Nullable [] there) throws IOException {
    if (there == null) {
      answer(exchange, 404, new byte[0]);
      return;
    }
    exchange.getResponseHeaders().set("etag", etag(there));
    exchange
        .getResponseHeaders()
        .set(
            "last-modified",
            DateTimeFormatter.RFC_1123_DATE_TIME.format(
                times.getOrDefault(key, Instant.EPOCH).atOffset(ZoneOffset.UTC)));
    String range = exchange.getRequestHeaders().getFirst("range");
    if (range == null) {
      answer(exchange, 200, there);
      return;
    }
    String[] ends = range.substring("bytes=".length()).split("-");
    int from = Integer.parseInt(ends[0]);
    if (from >= there.length) {
      answer(exchange, 416, new byte[0]);
    } else {
      int to = Math.min(there.length, Integer.parseInt(ends[1]) + 1);
      answer(exchange, 206, Arrays.copyOfRange(there, from, to));
    }
  }

  private byte[] list(String query) {
    Map<String, String> asked = new java.util.HashMap<>();
    for (String part : query.split("&")) {
      asked.put(part.substring(0, part.indexOf('=')), part.substring(part.indexOf('=') + 1));
    }
    List<String> keys =
        objects.tailMap(asked.getOrDefault("continuation-token", ""), false).keySet().stream()
            .filter(key -> key.startsWith(asked.get("prefix")))
            .toList();
    StringBuilder xml = new StringBuilder("<ListBucketResult>");
    keys.stream()
        .limit(PAGE)
        .forEach(key -> xml.append("<Contents><Key>").append(key).append("</Key></Contents>"));
    boolean more = keys.size() > PAGE;
    xml.append("<IsTruncated>").append(more).append("</IsTruncated>");
    if (more) {
      xml.append("<NextContinuationToken>")
          .append(keys.get(PAGE - 1))
          .append("</NextContinuationToken>");
    }
    return xml.append("</ListBucketResult>").toString().getBytes(UTF_8);
  }

  private static String etag(byte[] content) {
    return '"' + Sha256.hex(content).substring(0, 32) + '"';
  }

  private static void answer(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      exchange.getResponseBody().write(body);
    }
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
