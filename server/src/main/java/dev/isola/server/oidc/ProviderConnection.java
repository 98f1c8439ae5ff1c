package dev.isola.server.oidc;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the provider. Each has a deadline for the whole response and a limit of bytes;
 * few are in progress at a time, because clients without credentials cause them.
 */
final class ProviderConnection {
  private static final int MAX_BYTES = 512 * 1024;
  private static final int MAX_CONCURRENT = 16;

  private final HttpClient client;
  private final Duration timeout;
  private final Semaphore permits = new Semaphore(MAX_CONCURRENT);

  /** A response with a JSON object. */
  record Answer(int status, Map<String, Object> body) {}

  ProviderConnection(Duration timeout) {
    this.timeout = timeout;
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout)
            .build();
  }

  /** Returns the JSON object at an address. */
  Map<String, Object> get(URI address, String what) throws SignInException {
    Answer answer = send(HttpRequest.newBuilder(address).GET(), what);
    if (answer.status() != 200) {
      throw unavailable(what + " has status " + answer.status(), null);
    }
    return answer.body();
  }

  /**
   * Sends a request.
   *
   * @param what the response, in a sentence for the log
   */
  Answer send(HttpRequest.Builder request, String what) throws SignInException {
    if (!permits.tryAcquire()) {
      throw new SignInException(
          SignInProblem.TOO_MANY, "too many requests to the provider are in progress");
    }
    try {
      return exchange(request.header("Accept", "application/json").build(), what);
    } finally {
      permits.release();
    }
  }

  private Answer exchange(HttpRequest request, String what) throws SignInException {
    // The timeout of a request ends with the head of its response.
    CompletableFuture<HttpResponse<byte[]>> sent =
        client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_BYTES));
    try {
      HttpResponse<byte[]> response = sent.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return new Answer(response.statusCode(), Json.parseObject(response.body()));
    } catch (MalformedJson e) {
      throw unavailable(what + " is not a JSON object", e);
    } catch (TimeoutException e) {
      throw unavailable(what + " did not arrive within " + timeout.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw unavailable(what + " could not be read: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
      throw unavailable("interrupted while waiting for " + what, e);
    } finally {
      boolean _ = sent.cancel(true); // closes the connection unless the response is complete
    }
  }

  private static SignInException unavailable(String detail, @Nullable Throwable cause) {
    return cause == null
        ? new SignInException(SignInProblem.PROVIDER_UNAVAILABLE, detail)
        : new SignInException(SignInProblem.PROVIDER_UNAVAILABLE, detail, cause);
  }
}
