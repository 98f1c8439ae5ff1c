package dev.isola.provider.kubernetes.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Sends requests to an API server. A request with an effect is sent once; when its outcome is not
 * known, the exception says so.
 */
public final class ClusterClient implements AutoCloseable {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_RESPONSE = 32 << 20;

  private final ClusterAccess access;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("kubernetes-", 0).factory());
  private final HttpClient http;

  public ClusterClient(ClusterAccess access) {
    this.access = access;
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .sslContext(access.tls())
            .executor(threads)
            .build();
  }

  /** Returns the address of the API server. */
  public URI server() {
    return access.server();
  }

  /** Returns an object, or a list; empty if it does not exist. */
  public Optional<JsonValue> get(String path, Deadline deadline) {
    return response("GET", path, Optional.empty(), deadline, "reading " + path);
  }

  /**
   * Creates an object and returns it as stored.
   *
   * @throws dev.isola.spi.error.Conflict if there is one of this name
   * @throws dev.isola.spi.error.OutcomeUnknown if the API server may have created it
   */
  public JsonValue create(String path, Map<String, Object> object, Deadline deadline) {
    String what = "creating an object in " + path;
    return response("POST", path, Optional.of(object), deadline, what)
        .orElseThrow(() -> ClusterErrors.status(what, 404, new byte[0]));
  }

  /**
   * Changes an object by a JSON merge patch. Returns it; empty if it does not exist.
   *
   * @throws dev.isola.spi.error.Conflict if the patch names a uid that the object does not have
   */
  public Optional<JsonValue> patch(String path, Map<String, Object> change, Deadline deadline) {
    return response("PATCH", path, Optional.of(change), deadline, "changing " + path);
  }

  /** Deletes an object. Returns it, or the result; empty if it does not exist. */
  public Optional<JsonValue> delete(String path, Map<String, Object> options, Deadline deadline) {
    return response("DELETE", path, Optional.of(options), deadline, "deleting " + path);
  }

  private Optional<JsonValue> response(
      String method,
      String path,
      Optional<Map<String, Object>> body,
      Deadline deadline,
      String what) {
    HttpRequest.Builder request =
        request(path)
            .method(
                method,
                body.map(content -> BodyPublishers.ofString(Json.text(content)))
                    .orElse(BodyPublishers.noBody()));
    if (method.equals("PATCH")) {
      request.setHeader("Content-Type", "application/merge-patch+json");
    }
    HttpResponse<byte[]> response =
        exchange(
            request,
            BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_RESPONSE),
            deadline,
            what,
            !method.equals("GET"));
    if (response.statusCode() == 404) {
      return Optional.empty();
    }
    if (response.statusCode() / 100 != 2) {
      throw ClusterErrors.status(what, response.statusCode(), response.body());
    }
    try {
      return Optional.of(JsonValue.parse(response.body()));
    } catch (IOException e) {
      throw ClusterErrors.broken(access.server(), what, !method.equals("GET"), e);
    }
  }

  /**
   * Opens a stream of lines that ends when the API server or the caller closes it.
   *
   * @throws SandboxException if it does not begin in time
   */
  InputStream stream(String path, Deadline deadline) throws IOException {
    String what = "watching " + path;
    HttpResponse<InputStream> response =
        exchange(request(path).GET(), BodyHandlers.ofInputStream(), deadline, what, false);
    if (response.statusCode() != 200) {
      try (InputStream in = response.body()) {
        throw ClusterErrors.status(what, response.statusCode(), in.readNBytes(1 << 16));
      }
    }
    return response.body();
  }

  /**
   * Starts a process in a container, or attaches to its first one.
   *
   * @param path with the query
   * @throws IOException if the connection cannot be established in time
   */
  public ExecStream exec(String path, Duration timeout) throws IOException {
    URI address = URI.create(access.server().toString().replaceFirst("^https", "wss") + path);
    return ExecStream.open(http, address, access.token().current(), timeout);
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(access.server() + path))
            .setHeader("Accept", "application/json")
            .setHeader("Content-Type", "application/json")
            .setHeader("User-Agent", "isola");
    access
        .token()
        .current()
        .ifPresent(token -> request.setHeader("Authorization", "Bearer " + text(token.reveal())));
    return request;
  }

  static String text(byte[] token) {
    return new String(token, UTF_8);
  }

  private <T> HttpResponse<T> exchange(
      HttpRequest.Builder request,
      BodyHandler<T> handler,
      Deadline deadline,
      String what,
      boolean hasEffect) {
    CompletableFuture<HttpResponse<T>> response = http.sendAsync(request.build(), handler);
    try {
      return response.get(Math.max(1, deadline.left().toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      response.cancel(true);
      throw ClusterErrors.timedOut(what, deadline.whole(), hasEffect);
    } catch (InterruptedException e) {
      response.cancel(true);
      Thread.currentThread().interrupt();
      throw hasEffect
          ? ClusterErrors.timedOut(what, deadline.whole(), true)
          : ClusterErrors.cancelled(what);
    } catch (ExecutionException e) {
      throw ClusterErrors.broken(access.server(), what, hasEffect, e.getCause());
    }
  }

  /** Returns a query of these parameters, which may repeat a name. */
  public static String query(List<Map.Entry<String, String>> parameters) {
    return parameters.stream()
        .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), UTF_8))
        .collect(Collectors.joining("&", "?", ""));
  }

  /** Aborts the requests in progress. */
  @Override
  public void close() {
    http.shutdownNow();
    threads.shutdownNow();
  }
}
