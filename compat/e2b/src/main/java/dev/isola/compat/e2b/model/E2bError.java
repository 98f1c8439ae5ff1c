package dev.isola.compat.e2b.model;

import dev.isola.server.error.ErrorStatus;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An error as E2B's clients read it: they look at the body's code more than at the status. */
public record E2bError(int status, Map<String, Object> body) {
  private static final int GONE = 502;

  /** Tells whether it is about a sandbox that is not there, or sleeps. */
  public boolean isSandboxMissing() {
    return status == GONE;
  }

  /** Of the control plane: a status and a message. What is gone is as good as never there. */
  public static E2bError control(Fault fault) {
    int status = fault.code() == ErrorCode.SANDBOX_DESTROYED ? 404 : ErrorStatus.of(fault.code());
    return new E2bError(
        status, Map.of("code", status, "message", message(fault) + commandOutput(fault)));
  }

  /** Returns what a command of the template wrote: these clients read nothing but the message. */
  private static String commandOutput(Fault fault) {
    if (fault.code() != ErrorCode.INIT_FAILED) {
      return "";
    }
    return Stream.of("command", "output", "startOutput")
        .filter(name -> !fault.context().getOrDefault(name, "").isBlank())
        .map(name -> "\n" + name + ": " + fault.context().getOrDefault(name, "").strip())
        .collect(Collectors.joining());
  }

  /** Of files and facts in a sandbox. */
  public static E2bError envd(Fault fault, String sandbox) {
    return switch (fault.code()) {
      case SANDBOX_NOT_FOUND, SANDBOX_DESTROYED, ILLEGAL_STATE -> sandboxMissing(sandbox);
      case PORT_NOT_OPEN ->
          new E2bError(
              GONE, Map.of("sandboxId", sandbox, "message", "The port is not open", "code", GONE));
      case USER_NOT_FOUND -> new E2bError(401, Map.of("code", 401, "message", message(fault)));
      default -> control(fault);
    };
  }

  /** Of a call: a word and a message. */
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

  /** Returns what is wrong and what to do about it, in one line. */
  static String message(Fault fault) {
    return fault.remedy().isEmpty()
        ? fault.problem()
        : fault.problem() + " (" + fault.remedy() + ")";
  }
}
