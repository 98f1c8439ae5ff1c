package dev.isola.provider.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.e2b.http.HttpAnswer;
import dev.isola.provider.e2b.http.HttpCall;
import dev.isola.provider.e2b.http.HttpErrors;
import dev.isola.provider.e2b.http.RetryingHttpClient;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Client of E2B's API for creating, listing and killing sandboxes. */
final class E2bApiClient {
  private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(20);
  private static final int MAX_PAGES = 1_000;

  private final RetryingHttpClient http;
  private final E2bProviderSettings settings;
  private final InstanceId instance;

  E2bApiClient(RetryingHttpClient http, E2bProviderSettings settings, InstanceId instance) {
    this.http = http;
    this.settings = settings;
    this.instance = instance;
  }

  /** A sandbox of this instance, as listed by the API. */
  record ListedSandbox(String name, SandboxMetadata sandboxMetadata, SandboxState state) {}

  /** What is needed to connect to a sandbox's envd. */
  record SandboxEndpoint(String name, Optional<String> domain, Optional<Secret> token) {}

  SandboxEndpoint create(Map<String, ?> wanted, Duration timeout) {
    HttpCall call =
        call("creating a sandbox", "POST", "/v2/sandboxes")
            .sending("application/json", Json.bytes(wanted));
    HttpAnswer answer = http.send(call, timeout);
    String result = answer.isSuccess() ? "" : HttpErrors.message(answer.body());
    if (answer.status() == 404 || (answer.status() == 400 && result.contains("emplate"))) {
      throw Fault.of(
              ErrorCode.IMAGE_NOT_FOUND,
              "no such template: '" + wanted.get("templateID") + "': " + HttpErrors.line(result),
              "use a template of your E2B team, or build it")
          .exception();
    }
    return endpoint(call, body(call, answer));
  }

  /** Returns what is needed to connect to a sandbox; empty if it does not exist. */
  Optional<SandboxEndpoint> open(String name) {
    HttpCall call = one("getting a sandbox", "GET", name, "");
    HttpAnswer answer = http.send(call, SHORT_TIMEOUT);
    return answer.status() == 404
        ? Optional.empty()
        : Optional.of(endpoint(call, body(call, answer)));
  }

  private static SandboxEndpoint endpoint(HttpCall call, JsonValue sandbox) {
    return new SandboxEndpoint(
        sandbox
            .optionalText("sandboxID")
            .filter(text -> text.matches("[A-Za-z0-9_-]{1,128}"))
            .orElseThrow(() -> HttpErrors.malformed(call, "no sandboxID")),
        sandbox.optionalText("domain"),
        sandbox.optionalText("envdAccessToken").map(Secret::of));
  }

  /** Returns the state of a sandbox; empty if it does not exist. */
  Optional<SandboxState> state(String name) {
    HttpCall call = one("getting a sandbox", "GET", name, "");
    HttpAnswer answer = http.send(call, SHORT_TIMEOUT);
    return answer.status() == 404 ? Optional.empty() : Optional.of(state(body(call, answer)));
  }

  private static SandboxState state(JsonValue sandbox) {
    return sandbox.text("state").equals("paused") ? SandboxState.PAUSED : SandboxState.RUNNING;
  }

  /** Returns the sandboxes of this instance that match the metadata query, oldest first. */
  List<ListedSandbox> list(String sandboxMetadata) {
    List<ListedSandbox> all = new ArrayList<>();
    String next = "";
    for (int page = 0; page < MAX_PAGES; page++) {
      HttpCall call =
          call(
              "listing sandboxes",
              "GET",
              "/v2/sandboxes?state=running%2Cpaused&limit=100&metadata="
                  + encoded(sandboxMetadata)
                  + (next.isEmpty() ? "" : "&nextToken=" + encoded(next)));
      HttpAnswer answer = http.send(call, SHORT_TIMEOUT);
      JsonValue sandboxes = body(call, answer);
      if (!sandboxes.isList()) {
        throw HttpErrors.malformed(call, "not a list");
      }
      sandboxes.items().forEach(sandbox -> found(sandbox).ifPresent(all::add));
      next = answer.headers().firstValue("X-Next-Token").orElse("");
      if (next.isEmpty()) {
        return all.reversed();
      }
    }
    throw Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the list of sandboxes is endless",
            "check the responses of the server at " + settings.api().getHost() + " answers")
        .exception();
  }

  private Optional<ListedSandbox> found(JsonValue sandbox) {
    Map<String, String> metadata = new LinkedHashMap<>();
    sandbox.at("metadata").members().forEach((name, value) -> metadata.put(name, value.text()));
    Optional<String> id =
        sandbox.optionalText("sandboxID").filter(text -> text.matches("[A-Za-z0-9_-]{1,128}"));
    return SandboxMetadata.read(metadata, instance)
        .flatMap(
            sandboxMetadata ->
                id.map(known -> new ListedSandbox(known, sandboxMetadata, state(sandbox))));
  }

  /** Kills a sandbox. Has no effect if it does not exist. */
  void kill(String name, Duration timeout) {
    changed(one("killing a sandbox", "DELETE", name, "").asIdempotent(), 404, timeout);
  }

  void renew(String name, Duration fromNow) {
    HttpCall call = one("renewing a sandbox", "POST", name, "/timeout").asIdempotent();
    changed(json(call, Map.of("timeout", seconds(fromNow))), 0, SHORT_TIMEOUT);
  }

  void pause(String name, Duration timeout) {
    changed(
        json(one("pausing a sandbox", "POST", name, "/pause").asIdempotent(), Map.of()),
        409,
        timeout);
  }

  /** Resumes a sandbox without shortening its remaining lifetime. */
  void resume(String name, Duration timeout) {
    HttpCall call =
        call("resuming a sandbox", "POST", "/v2/sandboxes/" + name + "/connect").asIdempotent();
    changed(json(call, Map.of("timeout", 1)), 0, timeout);
  }

  static long seconds(Duration time) {
    return Math.max(1, time.plusMillis(999).toSeconds());
  }

  private void changed(HttpCall call, int alsoGood, Duration timeout) {
    HttpAnswer answer = http.send(call, timeout);
    if (!answer.isSuccess() && answer.status() != alsoGood) {
      throw HttpErrors.of(call, answer, HttpErrors.message(answer.body()));
    }
  }

  private static HttpCall json(HttpCall call, Object value) {
    return call.sending("application/json", Json.bytes(value));
  }

  private static JsonValue body(HttpCall call, HttpAnswer answer) {
    if (!answer.isSuccess()) {
      throw HttpErrors.of(call, answer, HttpErrors.message(answer.body()));
    }
    try {
      return JsonValue.parse(answer.body().toArray());
    } catch (IOException e) {
      throw HttpErrors.malformed(call, "not JSON");
    }
  }

  private HttpCall one(String what, String method, String name, String rest) {
    return call(what, method, "/sandboxes/" + name + rest);
  }

  private HttpCall call(String what, String method, String path) {
    Secret key =
        settings
            .key()
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.PROVIDER_UNAVAILABLE,
                            "no API key for E2B",
                            "set E2B_API_KEY or the provider's setting api_key")
                        .exception());
    URI base = settings.api();
    String prefix = base.getPath() == null ? "" : base.getPath().replaceFirst("/$", "");
    return HttpCall.of(what, method, base.resolve(prefix + path))
        .with("X-API-KEY", new String(key.reveal(), UTF_8));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }
}
