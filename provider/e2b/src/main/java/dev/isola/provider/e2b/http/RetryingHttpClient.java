package dev.isola.provider.e2b.http;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * An HTTP client with pooled connections. Uses HTTP/1.1 only, so that an unread stream blocks just
 * its own connection.
 *
 * <p>A rate-limited request is sent again if the service permits it soon, because it had no effect.
 * No other request is ever repeated.
 */
public final class RetryingHttpClient implements AutoCloseable {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_RESPONSE = 16 << 20;
  private static final int MAX_ATTEMPTS = 3;
  private static final long MAX_RETRY_SECONDS = 5;

  private static final String POOL = "jdk.httpclient.connectionPoolSize";

  static {
    // The JDK keeps every connection it has ever opened at once; only this system property limits
    // the pool.
    if (System.getProperty(POOL) == null) {
      System.setProperty(POOL, "6");
    }
  }

  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("e2b-http-", 0).factory());
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .executor(threads)
          .build();

  /** Sends a request and returns the complete response. */
  public HttpAnswer send(HttpCall call, Duration timeout) {
    Deadline deadline = Deadline.in(timeout);
    for (int tries = 1; ; tries++) {
      HttpResponse<byte[]> response =
          exchange(
              call,
              BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_RESPONSE),
              deadline.left());
      HttpAnswer answer =
          new HttpAnswer(response.statusCode(), response.headers(), Bytes.of(response.body()));
      if (answer.status() != 429
          || tries == MAX_ATTEMPTS
          || !pauseBeforeRetry(call, answer, deadline)) {
        return answer;
      }
    }
  }

  /**
   * Sends a request and returns once the response begins. The body is streamed, and the caller must
   * close it.
   */
  public HttpResponse<InputStream> open(HttpCall call, Duration timeout) {
    return exchange(call, BodyHandlers.ofInputStream(), timeout);
  }

  private <T> HttpResponse<T> exchange(HttpCall call, BodyHandler<T> handler, Duration timeout) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(call.address()).method(call.method(), body(call));
    call.headers().forEach(request::setHeader);
    CompletableFuture<HttpResponse<T>> answer = client.sendAsync(request.build(), handler);
    try {
      return answer.get(Math.max(1, timeout.toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw HttpErrors.timedOut(call, timeout);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw HttpErrors.cancelled(call);
    } catch (ExecutionException e) {
      throw HttpErrors.broken(call, neverSent(e.getCause()), e.getCause());
    }
  }

  private static BodyPublisher body(HttpCall call) {
    return call.content()
        .map(
            content ->
                switch (content) {
                  case HttpCall.Content.BufferedContent(var bytes) ->
                      BodyPublishers.ofByteArray(bytes.toArray());
                  case HttpCall.Content.StreamContent(var stream) ->
                      BodyPublishers.ofInputStream(() -> stream);
                })
        .orElse(BodyPublishers.noBody());
  }

  /** Tells whether a request that failed this way cannot have reached the service. */
  private static boolean neverSent(@org.jspecify.annotations.Nullable Throwable why) {
    for (Throwable cause = why; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof HttpConnectTimeoutException
          || cause instanceof UnresolvedAddressException
          || cause instanceof javax.net.ssl.SSLHandshakeException) {
        return true;
      }
    }
    return false;
  }

  /** Waits as long as the service asks for, if the deadline allows it. */
  private static boolean pauseBeforeRetry(HttpCall call, HttpAnswer answer, Deadline deadline) {
    long seconds =
        answer
            .headers()
            .firstValue("Retry-After")
            .filter(text -> text.matches("[0-9]{1,4}"))
            .map(Long::parseLong)
            .orElse(Long.MAX_VALUE);
    boolean again =
        call.content().filter(HttpCall.Content.StreamContent.class::isInstance).isEmpty();
    if (!again || seconds > MAX_RETRY_SECONDS || deadline.left().toSeconds() <= seconds) {
      return false;
    }
    try {
      Thread.sleep(Duration.ofSeconds(seconds));
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw HttpErrors.cancelled(call);
    }
  }

  /** Aborts the requests in progress. */
  @Override
  public void close() {
    client.shutdownNow();
    threads.shutdownNow();
  }

  /** Reads at most {@code most} bytes of a stream and closes it. */
  public static Bytes readAtMost(InputStream in, int most) {
    try (in) {
      return Bytes.of(in.readNBytes(most));
    } catch (IOException e) {
      return Bytes.utf8("");
    }
  }
}
