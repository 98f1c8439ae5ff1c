package dev.isola.provider.http.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import dev.isola.spi.Secret;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to one backend. Follows no redirect and uses no proxy, so that the key reaches no
 * other host. Repeats no request.
 */
public final class BackendClient implements AutoCloseable {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration END = Duration.ofSeconds(5);

  private static final String POOL = "jdk.httpclient.connectionPoolSize";

  static {
    // The JDK keeps every connection it has ever opened at once; only this system property limits
    // the pool.
    if (System.getProperty(POOL) == null) {
      System.setProperty(POOL, "1");
    }
  }

  private final BackendAddress address;
  private final Optional<Secret> key;
  private final Optional<SSLContext> tls;
  private final BackendErrors errors;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("backend-http-", 0).factory());
  private final HttpClient client;

  public BackendClient(BackendAddress address, Optional<Secret> key, Optional<SSLContext> tls) {
    this.address = address;
    this.key = key;
    this.tls = tls;
    this.errors = new BackendErrors(address);
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .proxy(HttpClient.Builder.NO_PROXY)
            .executor(threads);
    tls.ifPresent(builder::sslContext);
    this.client = builder.build();
  }

  public BackendAddress address() {
    return address;
  }

  /** Sends a request whose success has no body, and returns the status. */
  public int send(BackendCall call, Duration timeout) {
    return exchange(call, timeout).status();
  }

  /** Sends a request and returns the document of the response. */
  public BackendDocument document(BackendCall call, Duration timeout) {
    BackendResponse response = exchange(call, timeout);
    return BackendDocument.parse(response.body().toArray(), why -> errors.malformed(call, why));
  }

  /** Sends a request and returns the content of the response. */
  public byte[] bytes(BackendCall call, Duration timeout) {
    return exchange(call, timeout).body().toArray();
  }

  /**
   * Sends a request and returns the content of the response as it arrives.
   *
   * @param header a header of the response that the caller needs; none if empty
   * @param timeout until the response begins
   */
  public BackendStream stream(BackendCall call, String header, Duration timeout) {
    HttpResponse<InputStream> received =
        await(
            call, client.sendAsync(request(call, timeout), BodyHandlers.ofInputStream()), timeout);
    try {
      String type = received.headers().firstValue("content-type").orElse("");
      boolean success = call.expected().contains(received.statusCode());
      byte[] body =
          success
              ? new byte[0]
              : await(
                  call,
                  CompletableFuture.supplyAsync(
                      () -> read(received.body(), call.answer().limit()), threads),
                  timeout);
      check(call, new BackendResponse(received.statusCode(), type, Bytes.of(body)));
      return new BackendStream(
          received.body(),
          header.isEmpty() ? Optional.empty() : received.headers().firstValue(header));
    } catch (SandboxException e) {
      closeQuietly(received.body());
      throw e;
    }
  }

  private static byte[] read(InputStream body, int limit) {
    try {
      return body.readNBytes(limit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void closeQuietly(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      // The error of the response is what the caller learns.
    }
  }

  /** Returns a connector of the channel of a sandbox. */
  public ChannelOpener channel(String path, Optional<Secret> channelSecret) {
    return new ChannelOpener(address, path, key, channelSecret, tls);
  }

  private BackendResponse exchange(BackendCall call, Duration timeout) {
    HttpResponse<byte[]> received =
        await(
            call,
            client.sendAsync(
                request(call, timeout),
                BodyHandlers.limiting(BodyHandlers.ofByteArray(), call.answer().limit())),
            timeout);
    BackendResponse response =
        new BackendResponse(
            received.statusCode(),
            received.headers().firstValue("content-type").orElse(""),
            Bytes.of(received.body()));
    check(call, response);
    return response;
  }

  private <T> T await(BackendCall call, CompletableFuture<T> future, Duration timeout) {
    try {
      return future.get(Math.max(1, timeout.toMillis()), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      future.cancel(true);
      throw errors.timedOut(call, timeout);
    } catch (InterruptedException e) {
      future.cancel(true);
      Thread.currentThread().interrupt();
      throw errors.cancelled(call);
    } catch (ExecutionException e) {
      throw errors.broken(call, neverSent(e.getCause()), e.getCause());
    }
  }

  private void check(BackendCall call, BackendResponse response) {
    if (!call.expected().contains(response.status())) {
      boolean success = response.status() >= 200 && response.status() < 300;
      throw success
          ? errors.malformed(call, "it answered with the status " + response.status())
          : errors.of(call, response);
    }
    if (!call.answer().type().isEmpty() && !response.is(call.answer().type())) {
      throw errors.malformed(
          call,
          "it answered with the content type '"
              + response.type()
              + "' instead of "
              + call.answer().type());
    }
  }

  private HttpRequest request(BackendCall call, Duration timeout) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address.at(call.path()))
            .header("Isola-Timeout-Ms", Long.toString(timeout.toMillis()))
            .method(
                call.method(),
                call.content().map(BackendCall.Content::bytes).orElse(BodyPublishers.noBody()));
    call.content().ifPresent(content -> request.header("Content-Type", content.type()));
    key.ifPresent(secret -> request.header("Authorization", bearer(secret)));
    return request.build();
  }

  static String bearer(Secret key) {
    return "Bearer " + new String(key.reveal(), UTF_8);
  }

  /** Tells whether a request that failed this way cannot have reached the backend. */
  private static boolean neverSent(@Nullable Throwable why) {
    for (Throwable cause = why; cause != null; cause = cause.getCause()) {
      if (cause instanceof ConnectException
          || cause instanceof HttpConnectTimeoutException
          || cause instanceof UnresolvedAddressException
          || cause instanceof SSLHandshakeException) {
        return true;
      }
    }
    return false;
  }

  /** Aborts the requests under way, and waits until no thread is left. */
  @Override
  public void close() {
    client.shutdownNow();
    try {
      boolean ended = client.awaitTermination(END);
      assert ended;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
  }
}
