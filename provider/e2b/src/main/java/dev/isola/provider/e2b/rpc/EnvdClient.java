package dev.isola.provider.e2b.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.e2b.http.HttpAnswer;
import dev.isola.provider.e2b.http.HttpCall;
import dev.isola.provider.e2b.http.HttpErrors;
import dev.isola.provider.e2b.http.IdleTimeoutInputStream;
import dev.isola.provider.e2b.http.RetryingHttpClient;
import dev.isola.spi.Bytes;
import dev.isola.spi.Secret;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** A client of envd, the daemon that E2B runs in a sandbox. */
public final class EnvdClient {
  /** Statuses with which a proxy reports that there is no sandbox behind it. */
  private static final Set<Integer> NO_SANDBOX = Set.of(401, 403, 404, 410, 502, 503, 504);

  private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(60);
  private static final String PING_SECONDS = "15";
  private static final int MAX_ERROR = 64 * 1024;

  private final RetryingHttpClient http;
  private final URI base;
  private final Map<String, String> headers;
  private final SandboxLiveness liveness;

  /**
   * @param token the access token; empty if the sandbox requires none
   */
  public EnvdClient(
      RetryingHttpClient http,
      URI base,
      String sandbox,
      Optional<Secret> token,
      SandboxLiveness liveness) {
    this.http = http;
    this.base = base;
    this.liveness = liveness;
    Map<String, String> all = new LinkedHashMap<>();
    all.put("E2b-Sandbox-Id", sandbox);
    all.put("E2b-Sandbox-Port", "49983");
    token.ifPresent(secret -> all.put("X-Access-Token", new String(secret.reveal(), UTF_8)));
    this.headers = Map.copyOf(all);
  }

  /** Tells whether envd responds. */
  public boolean isReachable(Duration maxWait) {
    try {
      return http.send(call("checking the sandbox", "GET", "/health"), maxWait).isSuccess();
    } catch (SandboxException e) {
      return false;
    }
  }

  /** Calls a unary method. */
  public JsonValue call(String method, Object message, boolean harmless) throws RpcError {
    HttpCall call =
        call(method, "POST", "/" + method)
            .with("Connect-Protocol-Version", "1")
            .sending("application/json", Json.bytes(message));
    HttpCall known = harmless ? call.asIdempotent() : call;
    HttpAnswer answer = guarded(() -> http.send(known, SHORT_TIMEOUT));
    if (answer.isSuccess()) {
      return parsed(known, answer.body());
    }
    throw refused(known, answer);
  }

  /**
   * Opens a stream.
   *
   * @param user the user; the sandbox's user if empty
   * @param timeout after which envd ends what was started
   */
  public MessageStream stream(
      String method, Object message, Optional<String> user, Optional<Duration> timeout)
      throws RpcError {
    HttpCall call =
        call(method, "POST", "/" + method)
            .with("Connect-Protocol-Version", "1")
            .with("Connect-Timeout-Ms", Long.toString(timeout.map(Duration::toMillis).orElse(0L)))
            .with("Keepalive-Ping-Interval", PING_SECONDS)
            .sending(ConnectFrame.MEDIA_TYPE, ConnectFrame.message(Json.bytes(message)));
    HttpCall known =
        user.map(
                name ->
                    call.with(
                        "Authorization",
                        "Basic "
                            + Base64.getEncoder().encodeToString((name + ":").getBytes(UTF_8))))
            .orElse(call);
    HttpResponse<InputStream> response = endpoint(known);
    return new MessageStream(new IdleTimeoutInputStream(response.body(), IDLE_TIMEOUT));
  }

  /** Opens the content of a file. The response is a range only if its status is 206. */
  public HttpResponse<InputStream> download(String path, Optional<String> range) throws RpcError {
    HttpCall call = call("reading " + path, "GET", "/files?path=" + encoded(path));
    return endpoint(range.map(text -> call.with("Range", text)).orElse(call));
  }

  /** Returns the body with an idle timeout. */
  public static InputStream withIdleTimeout(HttpResponse<InputStream> response) {
    return new IdleTimeoutInputStream(response.body(), IDLE_TIMEOUT);
  }

  /** Writes a file as the sandbox's user. */
  public void upload(String path, InputStream content, Duration maxWait) throws RpcError {
    HttpCall call =
        call("writing " + path, "POST", "/files?path=" + encoded(path))
            .sending("application/octet-stream", content)
            .asIdempotent();
    HttpAnswer answer = guarded(() -> http.send(call, maxWait));
    if (!answer.isSuccess()) {
      throw refused(call, answer);
    }
  }

  private HttpResponse<InputStream> endpoint(HttpCall call) throws RpcError {
    HttpResponse<InputStream> response = guarded(() -> http.open(call, SHORT_TIMEOUT));
    if (response.statusCode() >= 200 && response.statusCode() < 300) {
      return response;
    }
    Bytes result =
        RetryingHttpClient.readAtMost(
            new IdleTimeoutInputStream(response.body(), SHORT_TIMEOUT), MAX_ERROR);
    throw refused(call, new HttpAnswer(response.statusCode(), response.headers(), result));
  }

  private <T> T guarded(Supplier<T> action) {
    liveness.requireRunning();
    try {
      return action.get();
    } catch (SandboxException e) {
      throw switch (e.code()) {
        case PROVIDER_UNAVAILABLE, OUTCOME_UNKNOWN -> liveness.notRunningReason().orElse(e);
        default -> e;
      };
    }
  }

  /** Returns the error of envd, or throws the reason if the sandbox is not running. */
  private RpcError refused(HttpCall call, HttpAnswer answer) {
    if (NO_SANDBOX.contains(answer.status())) {
      liveness
          .notRunningReason()
          .ifPresent(
              reason -> {
                throw reason;
              });
    }
    try {
      JsonValue error = JsonValue.parse(answer.body().toArray());
      if (error.at("code").isText()) {
        return MessageStream.error(error);
      }
      if (answer.status() < 500 && answer.status() != 429) {
        return new RpcError(Integer.toString(answer.status()), HttpErrors.message(answer.body()));
      }
    } catch (IOException e) {
      // Reported by its status.
    }
    throw HttpErrors.of(call, answer, HttpErrors.message(answer.body()));
  }

  private static JsonValue parsed(HttpCall call, Bytes body) {
    try {
      return JsonValue.parse(body.toArray());
    } catch (IOException e) {
      throw HttpErrors.malformed(call, "not JSON");
    }
  }

  private HttpCall call(String what, String method, String path) {
    return HttpCall.of(what, method, base.resolve(path)).with(headers);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }
}
