package dev.isola.provider.kubernetes.api;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** Translates failed requests to the API server. */
final class ClusterErrors {
  private static final int MAX_TEXT = 500;

  private ClusterErrors() {}

  /** Returns a message of the cluster, shortened and without control characters. */
  static String bounded(String text) {
    String plain = text.replaceAll("\\p{Cntrl}+", " ").strip();
    return plain.length() > MAX_TEXT ? plain.substring(0, MAX_TEXT) + "..." : plain;
  }

  /** Returns the exception for a response that reports a failure. */
  static SandboxException status(String what, int status, byte[] body) {
    String message = message(body);
    String problem = what + " failed with status " + status + ": " + message;
    return switch (status) {
      case 401 ->
          Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  "the API server does not accept the credentials: " + message,
                  "check the kubeconfig (setting kubeconfig) with kubectl auth whoami")
              .exception();
      case 403 ->
          Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  what + " is forbidden: " + message,
                  "grant the missing permission, or raise the quota or the pod security level of"
                      + " the namespace; docs/providers/kubernetes.md lists what is needed")
              .exception();
      case 404 ->
          Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem, "check the namespace").exception();
      case 409 -> Fault.of(ErrorCode.CONFLICT, problem, "destroy it first").exception();
      case 400, 413, 422 ->
          Fault.of(ErrorCode.INVALID_REQUEST, problem, "correct what the cluster refuses")
              .exception();
      default ->
          Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem, "retry when the API server recovers")
              .exception();
    };
  }

  private static String message(byte[] body) {
    try {
      return bounded(JsonValue.parse(body).text("message"));
    } catch (IOException notJson) {
      return "the response is not JSON";
    }
  }

  static SandboxException timedOut(String what, Duration timeout, boolean hasEffect) {
    return Fault.of(
            hasEffect ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.PROVIDER_UNAVAILABLE,
            what + " took longer than " + timeout.toMillis() + " ms",
            "check the load of the API server")
        .exception();
  }

  static SandboxException cancelled(String what) {
    return Fault.of(ErrorCode.CANCELLED, what + " was cancelled", "call it again").exception();
  }

  static SandboxException broken(
      URI server, String what, boolean hasEffect, @Nullable Throwable cause) {
    boolean unknown = hasEffect && !neverSent(cause);
    return Fault.of(
            unknown ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.PROVIDER_UNAVAILABLE,
            what
                + " failed, the API server at "
                + server
                + " is not reachable: "
                + bounded(String.valueOf(cause)),
            "check the address and the certificates with kubectl get --raw /readyz")
        .exception(cause);
  }

  /** Tells whether a request that failed this way cannot have reached the API server. */
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
}
