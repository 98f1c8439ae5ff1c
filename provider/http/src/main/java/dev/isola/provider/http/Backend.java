package dev.isola.provider.http;

import static dev.isola.provider.http.client.BackendAddress.encode;

import dev.isola.codec.time.Deadline;
import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.provider.http.client.BackendClient;
import dev.isola.provider.http.client.BackendDocument;
import dev.isola.provider.http.client.ChannelOpener;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The routes of the protocol that both levels have, for the sandboxes of one installation.
 *
 * @param timeout of a request that has no work to do
 */
record Backend(BackendClient client, BackendIds ids, Duration timeout) {
  private static final Duration LEAST = Duration.ofSeconds(1);
  private static final int DOCUMENT = 1 << 20;
  private static final int PAGE = 4 << 20;
  private static final int MOST_ITEMS = 1_000;
  private static final int MOST_PAGES = 100;

  BackendInfo info(Optional<String> provider) {
    String query = provider.map(name -> "?provider=" + encode(name)).orElse("");
    return BackendInfo.parse(client.document(BackendCall.get("info", "/v1/info" + query), timeout));
  }

  /** Returns the timeout of a request that has work to do. */
  Duration longTimeout() {
    return timeout.multipliedBy(3);
  }

  String path(SandboxId id) {
    return "/v1/sandboxes/" + ids.of(id);
  }

  /** Creates a sandbox. */
  BackendSandbox create(SandboxId id, Map<String, Object> document, Duration most) {
    BackendCall call =
        BackendCall.of("create", "PUT", path(id), Effect.IDEMPOTENT)
            .sending(document)
            .expecting(DOCUMENT, 200, 201);
    BackendDocument answer = repeatable(most, left -> client.document(call, left));
    return own(id, BackendSandbox.parse(answer), answer);
  }

  /** Sends a request, and sends it again if the connection fails. */
  private static <T> T repeatable(Duration most, Function<Duration, T> request) {
    Deadline deadline = Deadline.in(most);
    try {
      return request.apply(most);
    } catch (ProviderUnavailable e) {
      if (e.getCause() == null || deadline.over()) {
        throw e; // the backend answered, or there is no time
      }
      return request.apply(deadline.left());
    }
  }

  /** Returns the sandbox if it exists. */
  Optional<BackendSandbox> find(SandboxId id) {
    try {
      BackendDocument answer = client.document(BackendCall.get("get", path(id)), timeout);
      return Optional.of(own(id, BackendSandbox.parse(answer), answer));
    } catch (SandboxException e) {
      if (isGone(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private BackendSandbox own(SandboxId id, BackendSandbox found, BackendDocument answer) {
    if (!found.is(id, ids)) {
      throw answer.malformed("it answered with another sandbox");
    }
    return found;
  }

  /** Returns whether a failure tells that the sandbox does not exist. */
  static boolean isGone(SandboxException e) {
    return e.code() == ErrorCode.SANDBOX_NOT_FOUND || e.code() == ErrorCode.SANDBOX_DESTROYED;
  }

  /** A request takes a moment even if there is nothing to destroy. */
  void destroy(SandboxId id, boolean force, Duration most) {
    try {
      String query = force ? "?force=true" : "";
      BackendCall call = BackendCall.of("destroy", "DELETE", path(id) + query, Effect.IDEMPOTENT);
      repeatable(most.compareTo(LEAST) < 0 ? LEAST : most, left -> client.send(call, left));
    } catch (SandboxException e) {
      if (!isGone(e)) {
        throw e;
      }
    }
  }

  /** Returns the sandboxes of this installation, and no others that the backend may list. */
  List<BackendSandbox> list() {
    List<BackendSandbox> all = new ArrayList<>();
    String instance = "/v1/sandboxes?instance=" + encode(ids.instance().value());
    Optional<String> after = Optional.empty();
    for (int page = 0; page < MOST_PAGES; page++) {
      String query = after.map(text -> "&after=" + encode(text)).orElse("");
      BackendDocument answer =
          client.document(BackendCall.get("inventory", instance + query, PAGE), timeout);
      for (BackendDocument one : answer.documents("sandboxes", MOST_ITEMS)) {
        BackendSandbox found = BackendSandbox.parse(one);
        boolean valid =
            SandboxId.isValid(found.sandbox()) && found.is(new SandboxId(found.sandbox()), ids);
        if (valid) {
          all.add(found);
        }
      }
      Optional<String> next = answer.optionalText("next");
      if (next.isEmpty()) {
        return all;
      }
      if (next.equals(after)) {
        throw answer.malformed("its pages do not end");
      }
      after = next;
    }
    throw Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "inventory at " + client.address() + ": more than " + MOST_PAGES + " pages",
            "check the backend")
        .exception();
  }

  boolean hasAgent(String sha256) {
    return client.send(BackendCall.head("the guest agent", "/v1/agents/" + sha256), timeout) == 200;
  }

  void putAgent(String sha256, byte[] program, Duration most) {
    client.send(
        BackendCall.of(
                "upload of the guest agent", "PUT", "/v1/agents/" + sha256, Effect.IDEMPOTENT)
            .sendingBytes(BodyPublishers.ofByteArray(program)),
        most);
  }

  ChannelOpener channel(SandboxId id, Optional<Secret> secret) {
    return client.channel(path(id) + "/channel", secret);
  }

  /** Calls a route of a sandbox that can be repeated and has no result. */
  void post(SandboxId id, String route, @Nullable Map<String, ?> body) {
    BackendCall call = BackendCall.of(route, "POST", path(id) + "/" + route, Effect.IDEMPOTENT);
    client.send(body == null ? call : call.sending(body), longTimeout());
  }
}
