package dev.isola.provider.e2b.http;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Translates HTTP failures into the exceptions of the provider contract. */
public final class HttpErrors {
  /** Context key of an error response's HTTP status. */
  public static final String STATUS = "status";

  private static final int LONGEST = 300;

  private HttpErrors() {}

  /** Returns the {@code message} of an error response, or the raw body if it has none. */
  public static String message(Bytes body) {
    try {
      return JsonValue.parse(body.toArray()).text("message");
    } catch (IOException e) {
      return body.utf8();
    }
  }

  static SandboxException timedOut(HttpCall call, Duration timeout) {
    String what = call.what() + " at " + host(call) + ": no response within " + timeout.toSeconds();
    return call.idempotent()
        ? Fault.of(ErrorCode.DEADLINE_EXCEEDED, what + " s", "retry").exception()
        : unknown(what + " s", null);
  }

  static SandboxException cancelled(HttpCall call) {
    return Fault.of(
            ErrorCode.CANCELLED,
            call.what() + " at " + host(call) + " was interrupted",
            "the request may have taken effect; check before repeating it")
        .exception();
  }

  static SandboxException broken(HttpCall call, boolean neverSent, @Nullable Throwable cause) {
    String what =
        call.what() + ": the connection to " + host(call) + " failed: " + line(messageOf(cause));
    return neverSent || call.idempotent()
        ? Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                what,
                "check that the address is correct and reachable from this host")
            .exception(cause)
        : unknown(what, cause);
  }

  /** Returns the exception for an error response that the caller does not handle specifically. */
  public static SandboxException of(HttpCall call, HttpAnswer answer, String message) {
    String what =
        call.what() + " at " + host(call) + ": " + answer.status() + " " + line(message).strip();
    return switch (answer.status()) {
      case 401, 403 ->
          Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  call.what() + ": " + host(call) + " rejected the API key",
                  "set E2B_API_KEY or the provider's setting api_key to a valid key")
              .exception();
      case 402 ->
          Fault.of(
                  ErrorCode.RESOURCE_LIMIT,
                  what,
                  "the E2B account has no credit left; check its billing page, or use another"
                      + " provider")
              .exception();
      case 404 -> Fault.of(ErrorCode.SANDBOX_NOT_FOUND, what, "list the sandboxes").exception();
      case 409 -> Fault.of(ErrorCode.CONFLICT, what, "check the state of the sandbox").exception();
      case 429 -> rateLimited(what, answer);
      case 501 -> Fault.of(ErrorCode.NOT_IMPLEMENTED, what, "use a supported feature").exception();
      case 503 -> unavailable(what);
      case 507 -> Fault.of(ErrorCode.DISK_FULL, what, "remove files").exception();
      default -> {
        if (answer.status() >= 400 && answer.status() < 500) {
          yield Fault.of(ErrorCode.INVALID_REQUEST, what, "correct the request").exception();
        }
        yield call.idempotent()
            ? unavailable(what)
            : Fault.of(
                    ErrorCode.OUTCOME_UNKNOWN,
                    what,
                    "the request may have taken effect; check before repeating it")
                .with(STATUS, Integer.toString(answer.status()))
                .exception();
      }
    };
  }

  /** Returns the exception for a response that violates the protocol. */
  public static SandboxException malformed(HttpCall call, String why) {
    String what = call.what() + ": " + host(call) + " sent an unexpected response: " + line(why);
    return call.idempotent() ? unavailable(what) : unknown(what, null);
  }

  private static SandboxException unavailable(String what) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, what, "retry later").exception();
  }

  private static SandboxException unknown(String what, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            what,
            "the request may have taken effect; check before repeating it")
        .exception(cause);
  }

  private static SandboxException rateLimited(String what, HttpAnswer answer) {
    Fault fault = Fault.of(ErrorCode.RATE_LIMITED, what, "wait, or send fewer requests");
    return answer
        .headers()
        .firstValue("Retry-After")
        .map(after -> fault.with("retryAfter", line(after)))
        .orElse(fault)
        .exception();
  }

  private static String messageOf(@Nullable Throwable cause) {
    for (Throwable one = cause; one != null; one = one.getCause()) {
      if (one.getMessage() != null && !one.getMessage().isBlank()) {
        return one.getMessage();
      }
    }
    return cause == null ? "" : cause.getClass().getSimpleName();
  }

  private static String host(HttpCall call) {
    return String.valueOf(call.address().getHost());
  }

  /** Returns remote text as a single line of limited length. */
  public static String line(String text) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < text.length() && i < LONGEST; i++) {
      line.append(Character.isISOControl(text.charAt(i)) ? ' ' : text.charAt(i));
    }
    return line.toString().strip();
  }
}
