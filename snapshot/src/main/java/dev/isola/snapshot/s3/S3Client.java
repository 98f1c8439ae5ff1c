package dev.isola.snapshot.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.digest.Sha256;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends signed requests to a bucket. Transient failures are retried with exponential backoff; every
 * attempt has a deadline and every response a size limit. Thread-safe.
 */
final class S3Client implements AutoCloseable {
  private static final int ATTEMPTS = 5;
  private static final Duration CONNECT = Duration.ofSeconds(10);
  static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int ERROR_BYTES = 64 << 10;
  private static final Set<Integer> RETRYABLE = Set.of(408, 429, 500, 502, 503, 504);

  /** The minimum transfer rate, from which the deadline of a request is computed. */
  private static final long MIN_BYTES_PER_SECOND = 100_000;

  private static final Duration MIN_TIMEOUT = Duration.ofSeconds(30);

  private final S3Config config;
  private final Clock clock;
  private final Duration firstPause;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(CONNECT)
          .build();

  S3Client(S3Config config, Clock clock, Duration firstPause) {
    this.config = config;
    this.clock = clock;
    this.firstPause = firstPause;
  }

  /**
   * A request.
   *
   * @param key the key of an object without the prefix; empty for the bucket itself
   * @param maxResponseBytes the maximum size of the response
   * @param guard throws if the request must no longer be sent
   */
  record S3Request(
      String method,
      String key,
      SortedMap<String, String> query,
      Map<String, String> headers,
      Body body,
      int maxResponseBytes,
      Guard guard) {

    static S3Request of(String method, String key, Map<String, String> headers, int most) {
      return new S3Request(method, key, new TreeMap<>(), headers, Body.NONE, most, () -> {});
    }

    static S3Request put(String key, Map<String, String> headers, Body body) {
      return new S3Request("PUT", key, new TreeMap<>(), headers, body, ERROR_BYTES, () -> {});
    }

    /** Returns the same request with a guard, which is checked before every attempt. */
    S3Request withGuard(Guard by) {
      return new S3Request(method, key, query, headers, body, maxResponseBytes, by);
    }
  }

  @FunctionalInterface
  interface Guard {
    void check() throws IOException;
  }

  /** A request body, opened again for each attempt. */
  record Body(long length, String sha256, PublisherFactory publishers) {
    static final Body NONE =
        new Body(0, Sha256.hex(new byte[0]), HttpRequest.BodyPublishers::noBody);

    static Body of(byte[] bytes) {
      return new Body(
          bytes.length, Sha256.hex(bytes), () -> HttpRequest.BodyPublishers.ofByteArray(bytes));
    }

    static Body of(Path file, long length, String sha256) {
      return new Body(length, sha256, () -> HttpRequest.BodyPublishers.ofFile(file));
    }
  }

  @FunctionalInterface
  interface PublisherFactory {
    BodyPublisher open() throws FileNotFoundException;
  }

  /**
   * A response.
   *
   * @param repeated whether an earlier attempt may have taken effect without a response
   */
  record S3Response(HttpResponse<byte[]> response, boolean repeated) {
    int status() {
      return response.statusCode();
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }
  }

  /** Sends a request, retrying until the response is final. */
  S3Response send(S3Request ask) throws IOException {
    IOException failure = new IOException("no attempt was made");
    boolean repeated = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) {
        pause(attempt);
      }
      ask.guard().check();
      try {
        HttpResponse<byte[]> response = attempt(ask);
        if (!RETRYABLE.contains(response.statusCode())) {
          return new S3Response(response, repeated);
        }
        failure = S3Errors.of(this + ": " + ask.method(), response);
      } catch (IOException e) {
        failure = new IOException(this + " is unreachable: " + e.getMessage(), e);
      }
      repeated = true;
    }
    throw failure;
  }

  /** Sends a request, and fails unless the status is one of {@code wanted}. */
  S3Response send(S3Request ask, Integer... wanted) throws IOException {
    S3Response answer = send(ask);
    if (!Set.of(wanted).contains(answer.status())) {
      throw S3Errors.of(this + ": " + ask.method() + " " + ask.key(), answer.response());
    }
    return answer;
  }

  private void pause(int attempt) throws IOException {
    long longest = firstPause.toMillis() << attempt;
    try {
      Thread.sleep(ThreadLocalRandom.current().nextLong(longest / 2, longest));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted before a retry", e);
    }
  }

  private HttpResponse<byte[]> attempt(S3Request ask) throws IOException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(
            request(ask),
            BodyHandlers.limiting(
                BodyHandlers.ofByteArray(), Math.max(ask.maxResponseBytes(), ERROR_BYTES)));
    // The timeout of the HTTP client ends with the response headers; this one includes the body.
    Duration most =
        MIN_TIMEOUT.plusSeconds(
            (ask.body().length() + ask.maxResponseBytes()) / MIN_BYTES_PER_SECOND);
    try {
      return answer.get(most.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException("no response within " + most.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a response", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(
          cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage(), e);
    } finally {
      answer.cancel(true);
    }
  }

  private HttpRequest request(S3Request ask) throws IOException {
    String host = config.host();
    String key = ask.key().isEmpty() ? "" : config.prefix() + ask.key();
    String path =
        AwsSignatureV4.encode(
            config.pathStyle()
                ? "/" + config.bucket() + (key.isEmpty() ? "" : "/" + key)
                : "/" + key,
            true);
    Map<String, String> headers = new TreeMap<>(ask.headers());
    headers.put("x-amz-date", AwsSignatureV4.time(clock.instant()));
    headers.put("x-amz-content-sha256", ask.body().sha256());
    config
        .token()
        .ifPresent(token -> headers.put("x-amz-security-token", new String(token.reveal(), UTF_8)));
    Map<String, String> signed = new TreeMap<>(headers);
    signed.put("host", host);
    String authorization =
        AwsSignatureV4.of(
            ask.method(),
            path,
            ask.query(),
            signed,
            config.region(),
            config.accessKey(),
            config.secretKey());
    String query = ask.query().isEmpty() ? "" : "?" + AwsSignatureV4.query(ask.query());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(config.endpoint().getScheme() + "://" + host + path + query))
            .method(ask.method(), ask.body().publishers().open());
    headers.forEach(request::header);
    return request.header("authorization", authorization).build();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  /** Names the bucket without credentials. */
  @Override
  public String toString() {
    return "s3://" + config.bucket() + "/" + config.prefix();
  }
}
