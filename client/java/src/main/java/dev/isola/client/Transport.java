package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.LimitExceeded;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.net.http.WebSocket;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * Sends requests and reads responses. Retries only what is safe to repeat: reads, and requests with
 * an idempotency key. For all others a lost response is an {@code OutcomeUnknown}.
 */
final class Transport implements AutoCloseable {
  private static final int MAX_RESPONSE = 64 << 20;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** Idle timeout of streams. The server sends a keep-alive at least every ten seconds. */
  static final Duration IDLE_TIMEOUT = Duration.ofSeconds(45);

  private final IsolaOptions options;
  private final HttpClient http;

  /** Subscriptions that end with this client. */
  private final Set<EventSubscription> subscriptions = ConcurrentHashMap.newKeySet();

  Transport(IsolaOptions options) {
    this.options = options;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT);
    if ("http".equals(options.url().getScheme())) {
      builder.sslContext(noCertificates());
    }
    http = builder.build();
  }

  /** Skips loading the trusted certificates, which is slow and only needed for TLS. */
  private static SSLContext noCertificates() {
    try {
      SSLContext none = SSLContext.getInstance("TLS");
      none.init(new KeyManager[0], new TrustManager[0], null);
      return none;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("TLS is not available", e);
    }
  }

  /** Makes a subscription end with this client. */
  void register(EventSubscription subscription) {
    subscriptions.add(subscription);
  }

  /** Forgets a subscription that has ended. */
  void unregister(EventSubscription subscription) {
    subscriptions.remove(subscription);
  }

  IsolaOptions options() {
    return options;
  }

  /** Sends a GET request, with retries. */
  JsonFields get(ApiPath endpoint) {
    return get(endpoint, options.timeout());
  }

  /** Sends a GET request that the server may hold back for a while, with retries. */
  JsonFields get(ApiPath endpoint, Duration timeout) {
    return readResponse(sendWithRetries(request(endpoint).timeout(timeout).GET().build()), true);
  }

  /** Opens a stream, with retries. The caller closes it. */
  InputStream open(ApiPath endpoint) {
    HttpRequest request = request(endpoint).timeout(options.timeout()).GET().build();
    return new IdleTimeoutInputStream(sendWithRetries(request).body(), IDLE_TIMEOUT);
  }

  /** Opens an event stream, without retries: the reader has its own backoff. */
  InputStream openOnce(ApiPath endpoint) {
    HttpRequest request =
        request(endpoint)
            .timeout(options.timeout())
            .header("Accept", "text/event-stream")
            .GET()
            .build();
    return new IdleTimeoutInputStream(sendOnce(request, true).body(), IDLE_TIMEOUT);
  }

  /** Sends a POST request whose response is an event stream. The caller closes it. */
  InputStream postForEvents(ApiPath endpoint, Map<String, ?> body, Duration idleTimeout) {
    HttpRequest request =
        request(endpoint)
            .timeout(options.timeout())
            .header("Accept", "text/event-stream")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(Json.bytes(body)))
            .build();
    return new IdleTimeoutInputStream(sendOnce(request, false).body(), idleTimeout);
  }

  /** Sends a POST request with an idempotency key, with retries. */
  JsonFields postIdempotent(
      ApiPath endpoint, Map<String, ?> body, String idempotencyKey, Duration timeout) {
    return readResponse(
        sendWithRetries(
            request(endpoint)
                .timeout(timeout)
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", idempotencyKey)
                .POST(BodyPublishers.ofByteArray(Json.bytes(body)))
                .build()),
        false);
  }

  JsonFields post(ApiPath endpoint, Map<String, ?> body, Duration timeout) {
    return send("POST", endpoint, body, timeout);
  }

  JsonFields post(ApiPath endpoint, Map<String, ?> body) {
    return send("POST", endpoint, body, options.timeout());
  }

  JsonFields put(ApiPath endpoint, Map<String, ?> body) {
    return send("PUT", endpoint, body, options.timeout());
  }

  JsonFields patch(ApiPath endpoint, Map<String, ?> body) {
    return send("PATCH", endpoint, body, options.timeout());
  }

  private JsonFields send(String method, ApiPath endpoint, Map<String, ?> body, Duration timeout) {
    return readResponse(
        sendOnce(
            request(endpoint)
                .timeout(timeout)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofByteArray(Json.bytes(body)))
                .build(),
            false),
        false);
  }

  void delete(ApiPath endpoint, Duration timeout) {
    readResponse(sendOnce(request(endpoint).timeout(timeout).DELETE().build(), false), false);
  }

  /**
   * Sends a body that may be large. Has no total timeout, but fails when the upload makes no
   * progress.
   *
   * @param progress returns the number of body bytes sent so far
   */
  JsonFields upload(
      String method, ApiPath endpoint, String type, BodyPublisher body, LongSupplier progress) {
    HttpRequest request =
        request(endpoint).header("Content-Type", type).method(method, body).build();
    CompletableFuture<HttpResponse<InputStream>> response =
        http.sendAsync(request, BodyHandlers.ofInputStream());
    try {
      long before = -1;
      while (true) {
        try {
          return readResponse(
              requireSuccess(response.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS)),
              false);
        } catch (TimeoutException e) {
          if (progress.getAsLong() == before) {
            throw new HttpTimeoutException("the upload makes no progress");
          }
          before = progress.getAsLong();
        }
      }
    } catch (ExecutionException e) {
      throw failed(e.getCause() instanceof IOException io ? io : new IOException(e), false);
    } catch (IOException e) {
      throw failed(e, false);
    } catch (InterruptedException e) {
      throw cancelled(e);
    } finally {
      response.cancel(true);
    }
  }

  /** Opens a WebSocket. */
  WebSocket webSocket(ApiPath endpoint, String protocol, WebSocket.Listener listener)
      throws IOException {
    URI uri = URI.create(uri(endpoint).toString().replaceFirst("^http", "ws"));
    try {
      return http.newWebSocketBuilder()
          .header("Authorization", "Bearer " + options.key())
          .subprotocols(protocol)
          .connectTimeout(CONNECT_TIMEOUT)
          .buildAsync(uri, listener)
          .get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    } catch (InterruptedException e) {
      throw cancelled(e);
    }
  }

  private URI uri(ApiPath endpoint) {
    return URI.create(options.url() + endpoint.text());
  }

  private HttpRequest.Builder request(ApiPath endpoint) {
    return HttpRequest.newBuilder(uri(endpoint)).header("Authorization", "Bearer " + options.key());
  }

  private HttpResponse<InputStream> sendWithRetries(HttpRequest request) {
    for (int attempt = 1; ; attempt++) {
      try {
        return sendOnce(request, true);
      } catch (IsolaException e) {
        if (attempt >= options.attempts() || !isTransient(e)) {
          throw e;
        }
      }
      RetryDelay.sleep(Duration.ofMillis(100L * attempt * attempt));
    }
  }

  /** Returns whether a short delay may help. Reaching a limit usually lasts longer. */
  static boolean isTransient(IsolaException e) {
    return e.isRetryable() && !(e instanceof LimitExceeded);
  }

  /**
   * @param repeatable whether the request is safe to repeat, so that a lost response does not
   *     matter
   */
  private HttpResponse<InputStream> sendOnce(HttpRequest request, boolean repeatable) {
    try {
      return requireSuccess(http.send(request, BodyHandlers.ofInputStream()));
    } catch (IOException e) {
      throw failed(e, repeatable);
    } catch (InterruptedException e) {
      throw cancelled(e);
    }
  }

  private IsolaException failed(IOException e, boolean repeatable) {
    if (e instanceof ConnectException || e instanceof HttpConnectTimeoutException) {
      return unreachable(e);
    }
    if (e instanceof HttpTimeoutException) {
      return Problem.clientSide(
              "DEADLINE_EXCEEDED",
              "the server at " + options.url() + " did not respond in time",
              repeatable ? "try again" : "check whether the request was executed, then try again")
          .exception(e);
    }
    return repeatable
        ? unreachable(e)
        : Problem.clientSide(
                "OUTCOME_UNKNOWN",
                "the connection to "
                    + options.url()
                    + " was lost before the response: "
                    + reason(e),
                "check whether the request was executed before repeating it")
            .exception(e);
  }

  IsolaException unreachable(IOException e) {
    return Problem.clientSide(
            Problem.SERVER_UNREACHABLE,
            "no server responds at " + options.url() + ": " + reason(e),
            "check the URL, or start a server with isola serve")
        .exception(e);
  }

  private static String reason(IOException e) {
    if (e instanceof ConnectException && e.getMessage() == null) {
      return "connection refused, or unknown host";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  static IsolaException cancelled(InterruptedException e) {
    Thread.currentThread().interrupt();
    return Problem.clientSide(
            "CANCELLED",
            "the call was interrupted",
            "repeat the call if the result is still needed")
        .exception(e);
  }

  private HttpResponse<InputStream> requireSuccess(HttpResponse<InputStream> response)
      throws IOException {
    if (response.statusCode() / 100 == 2) {
      return response;
    }
    byte[] body;
    try (InputStream in = new IdleTimeoutInputStream(response.body(), IDLE_TIMEOUT)) {
      body = in.readNBytes(1 << 20);
    }
    throw problem(
            response.statusCode(), body, response.headers().firstValue("X-Request-Id").orElse(""))
        .exception();
  }

  /**
   * Reads a problem response. A response without a code comes from an intermediary such as a proxy.
   */
  private Problem problem(int status, byte[] body, String requestId) {
    try {
      JsonFields fields = JsonFields.parse(body);
      if (fields.optionalText("code").isPresent()) {
        return problem(fields, status, requestId);
      }
    } catch (MalformedJson e) {
      // reported below
    }
    return byStatus(status, requestId);
  }

  /** Reads a problem document, of a response or of a part of one. */
  static Problem problem(JsonFields fields, int status, String requestId) {
    String code = fields.text("code");
    return new Problem(
        code,
        fields.optionalText("category").orElse(Problem.category(code, status)),
        status,
        fields.optionalText("detail").orElse(code),
        fields.optionalText("remedy").orElse(""),
        fields.optionalText("sandbox"),
        fields.optionalText("requestId").orElse(requestId),
        fields.stringMap("context"),
        fields.all());
  }

  Problem byStatus(int status, String requestId) {
    return new Problem(
        "HTTP_" + status,
        Problem.category("", status),
        status,
        options.url() + " responded with status " + status,
        "check that the URL belongs to an Isola server",
        Optional.empty(),
        requestId,
        Map.of());
  }

  private JsonFields readResponse(HttpResponse<InputStream> response, boolean repeatable) {
    try (InputStream in = new IdleTimeoutInputStream(response.body(), IDLE_TIMEOUT)) {
      byte[] body = in.readNBytes(MAX_RESPONSE);
      return body.length == 0 ? new JsonFields(Map.of()) : JsonFields.parse(body);
    } catch (MalformedJson e) {
      throw Problem.clientSide(
              "INTERNAL",
              "the response of " + options.url() + " cannot be read",
              "check that the URL belongs to an Isola server")
          .exception(e);
    } catch (IOException e) {
      throw failed(e, repeatable);
    }
  }

  /** Cancels requests in progress. A client that is not closed keeps its threads for a while. */
  @Override
  public void close() {
    subscriptions.forEach(EventSubscription::close);
    http.shutdownNow();
    http.close();
  }
}
