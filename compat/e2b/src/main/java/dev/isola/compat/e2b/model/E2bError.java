package dev.isola.compat.e2b.model;

import dev.isola.server.error.ErrorStatus;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An error in the format of E2B's API. Clients rely on the code in the body more than on the HTTP
 * status.
 */
public record E2bError(int status, Map<String, Object> body) {
  private static final int GONE = 502;
  private static final int FORBIDDEN = 403;

  /** Returns whether the error is about a sandbox that does not exist or is suspended. */
  public boolean isSandboxMissing() {
    return status == GONE;
  }

  /** Returns an error of the control plane. A destroyed sandbox is reported as not found. */
  public static E2bError control(Fault fault) {
    int status = fault.code() == ErrorCode.SANDBOX_DESTROYED ? 404 : ErrorStatus.of(fault.code());
    return new E2bError(
        status, Map.of("code", status, "message", message(fault) + commandOutput(fault)));
  }

  /** Returns the output of a failed template command, because clients show only the message. */
  private static String commandOutput(Fault fault) {
    if (fault.code() != ErrorCode.INIT_FAILED) {
      return "";
    }
    return Stream.of("command", "output", "startOutput")
        .filter(name -> !fault.context().getOrDefault(name, "").isBlank())
        .map(name -> "\n" + name + ": " + fault.context().getOrDefault(name, "").strip())
        .collect(Collectors.joining());
  }

  /** Returns an error of envd's HTTP routes. */
  public static E2bError envd(Fault fault, String sandbox) {
    return switch (fault.code()) {
      case SANDBOX_NOT_FOUND, SANDBOX_DESTROYED, ILLEGAL_STATE -> sandboxMissing(sandbox);
      case USER_NOT_FOUND -> new E2bError(401, Map.of("code", 401, "message", message(fault)));
      default -> control(fault);
    };
  }

  /**
   * Returns an error of a request that is forwarded to a port.
   *
   * @param reachable whether the sandbox runs, or would be resumed by the request
   */
  public static E2bError port(Fault fault, String sandbox, int port, boolean reachable) {
    return switch (fault.code()) {
      case SANDBOX_NOT_FOUND, SANDBOX_DESTROYED, ILLEGAL_STATE -> sandboxMissing(sandbox);
      case UNAUTHENTICATED ->
          reachable
              ? new E2bError(
                  FORBIDDEN,
                  Map.of(
                      "sandboxId",
                      sandbox,
                      "message",
                      "the ports of the sandbox are private: the header "
                          + E2bCredentials.TRAFFIC_HEADER.toLowerCase(Locale.ROOT)
                          + " is missing or wrong",
                      "code",
                      FORBIDDEN))
              : sandboxMissing(sandbox);
      case PORT_NOT_OPEN ->
          new E2bError(
              GONE,
              Map.of(
                  "sandboxId",
                  sandbox,
                  "message",
                  "The sandbox is running but port is not open",
                  "port",
                  port,
                  "code",
                  GONE));
      default -> control(fault);
    };
  }

  /** Returns an error of a Connect call. */
  public static E2bError connect(Fault fault, String sandbox) {
    return switch (fault.code()) {
      case SANDBOX_NOT_FOUND, SANDBOX_DESTROYED, ILLEGAL_STATE -> sandboxMissing(sandbox);
      default -> {
        ConnectCode code = ConnectCode.of(fault.code());
        yield new E2bError(code.status(), Map.of("code", code.word(), "message", message(fault)));
      }
    };
  }

  private static E2bError sandboxMissing(String sandbox) {
    return new E2bError(
        GONE, Map.of("sandboxId", sandbox, "message", "The sandbox was not found", "code", GONE));
  }

  /** Returns what failed and what to do about it in one line. */
  static String message(Fault fault) {
    return fault.remedy().isEmpty()
        ? fault.problem()
        : fault.problem() + " (" + fault.remedy() + ")";
  }
}
