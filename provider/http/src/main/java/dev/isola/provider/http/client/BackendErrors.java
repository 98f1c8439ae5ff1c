package dev.isola.provider.http.client;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns the failures of a backend into errors. A failure that may have had an effect which must not
 * happen twice becomes {@code OUTCOME_UNKNOWN}, whatever the backend calls it.
 */
record BackendErrors(BackendAddress address) {
  /** The codes that a backend may report. Others concern Isola's own clients, or Isola itself. */
  private static final Map<String, ErrorCode> CODES =
      Stream.of(
              ErrorCode.INVALID_REQUEST,
              ErrorCode.INVALID_SPEC,
              ErrorCode.PATH_OUTSIDE,
              ErrorCode.NOT_A_FILE,
              ErrorCode.NOT_A_FOLDER,
              ErrorCode.IS_A_FOLDER,
              ErrorCode.PERMISSION_DENIED,
              ErrorCode.COMMAND_NOT_FOUND,
              ErrorCode.COMMAND_NOT_EXECUTABLE,
              ErrorCode.USER_NOT_FOUND,
              ErrorCode.SANDBOX_NOT_FOUND,
              ErrorCode.FILE_NOT_FOUND,
              ErrorCode.IMAGE_NOT_FOUND,
              ErrorCode.CONFLICT,
              ErrorCode.FILE_EXISTS,
              ErrorCode.FOLDER_NOT_EMPTY,
              ErrorCode.ILLEGAL_STATE,
              ErrorCode.UNSAVED_WORK,
              ErrorCode.SANDBOX_DESTROYED,
              ErrorCode.RESOURCE_LIMIT,
              ErrorCode.DISK_FULL,
              ErrorCode.RATE_LIMITED,
              ErrorCode.NOT_IMPLEMENTED,
              ErrorCode.OUTCOME_UNKNOWN,
              ErrorCode.PROVIDER_UNAVAILABLE,
              ErrorCode.SPAWN_FAILED,
              ErrorCode.DEADLINE_EXCEEDED)
          .collect(Collectors.toMap(ErrorCode::name, code -> code));

  /** The codes that tell that a command did not start although another provider could be tried. */
  private static final Set<ErrorCode> REFUSALS =
      Set.of(ErrorCode.RATE_LIMITED, ErrorCode.RESOURCE_LIMIT);

  /** Returns the exception for a response that is not a success. */
  SandboxException of(BackendCall call, BackendResponse response) {
    int status = response.status();
    if (status >= 300 && status < 400) {
      return malformed(call, "it answered with the redirect " + status + ", which is not followed");
    }
    if (status == 401 || status == 403) {
      return Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              at(call) + ": " + status + ", the backend rejected the key or the certificate",
              "set the provider's setting key, or certificate and certificate_key")
          .exception();
    }
    Optional<Fault> reported = problem(call, response);
    if (reported.isPresent()) {
      Fault fault = reported.get();
      boolean doubtful =
          call.effect() == Effect.ONCE
              && fault.code().allowsFallback()
              && !REFUSALS.contains(fault.code());
      return doubtful ? unknown(fault.problem(), null) : fault.exception();
    }
    String what = at(call) + ": status " + status + " without a problem document";
    return switch (status) {
      case 429 ->
          Fault.of(ErrorCode.RATE_LIMITED, what, "wait, or send fewer requests").exception();
      case 501 -> Fault.of(ErrorCode.NOT_IMPLEMENTED, what, "use a supported feature").exception();
      default -> status < 500 ? unavailable(what, null) : failed(call, what, null);
    };
  }

  private Optional<Fault> problem(BackendCall call, BackendResponse response) {
    if (!response.is("application/problem+json") || response.status() < 400) {
      return Optional.empty();
    }
    try {
      Map<String, Object> json = Json.parseObject(response.body().utf8());
      if (!(json.get("code") instanceof String name)
          || !(json.get("detail") instanceof String detail)
          || !CODES.containsKey(name)) {
        return Optional.empty();
      }
      return Optional.of(
          Fault.of(
              CODES.get(name),
              at(call) + ": " + BackendText.line(detail),
              json.get("remedy") instanceof String remedy && !remedy.isBlank()
                  ? BackendText.line(remedy)
                  : "correct the request, or check the backend"));
    } catch (MalformedJson e) {
      return Optional.empty();
    }
  }

  /** Returns the exception for a response that violates the protocol. */
  SandboxException malformed(BackendCall call, String why) {
    return failed(call, at(call) + ": " + BackendText.line(why), null);
  }

  SandboxException timedOut(BackendCall call, Duration timeout) {
    String what = at(call) + ": no complete response within " + timeout.toMillis() + " ms";
    return call.effect() == Effect.ONCE
        ? unknown(what, null)
        : Fault.of(ErrorCode.DEADLINE_EXCEEDED, what, "check the load of the backend").exception();
  }

  SandboxException cancelled(BackendCall call) {
    return Fault.of(
            ErrorCode.CANCELLED,
            at(call) + " was interrupted",
            "the request may have taken effect; check before you repeat it")
        .exception();
  }

  SandboxException broken(BackendCall call, boolean neverSent, @Nullable Throwable cause) {
    String what = at(call) + ": " + BackendText.line(messageOf(cause));
    return neverSent ? unavailable(what, cause) : failed(call, what, cause);
  }

  private static SandboxException failed(BackendCall call, String what, @Nullable Throwable cause) {
    return call.effect() == Effect.ONCE ? unknown(what, cause) : unavailable(what, cause);
  }

  private static SandboxException unavailable(String what, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            what,
            "check the backend, and that the setting url is right")
        .exception(cause);
  }

  private static SandboxException unknown(String what, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            what,
            "the request may have taken effect; check before you repeat it")
        .exception(cause);
  }

  private String at(BackendCall call) {
    return call.what() + " at " + address;
  }

  private static String messageOf(@Nullable Throwable cause) {
    for (Throwable one = cause; one != null; one = one.getCause()) {
      if (one.getMessage() != null && !one.getMessage().isBlank()) {
        return one.getMessage();
      }
    }
    return cause == null ? "" : cause.getClass().getSimpleName();
  }
}
