package dev.isola.provider.microvmctl;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Turns the failures of a controller into errors. Its text is untrusted, so it is shortened. */
record ControllerErrors(ControllerCommand command) {
  /** The exit code of a controller for its own failures, with a line of JSON. */
  static final int OWN_FAILURE = 125;

  /** The exit code of ssh for its own failures, and that of a shell for an unknown program. */
  private static final int SSH_FAILED = 255;

  private static final int NOT_FOUND = 127;
  private static final int MAX_TEXT = 400;

  private static final Map<String, ErrorCode> CODES =
      Stream.of(ErrorCode.values()).collect(Collectors.toMap(ErrorCode::name, code -> code));

  /** Returns the error for a verb that ended with an exit code other than 0. */
  SandboxException of(String verb, int exitCode, String stderr) {
    Optional<Fault> reported = reported(stderr);
    if (reported.isPresent()) {
      return reported.get().exception();
    }
    if (command.host().isPresent() && exitCode == SSH_FAILED) {
      return unavailable(
          "the connection to " + command.host().get() + " failed: " + text(stderr),
          "check that ssh -o BatchMode=yes " + command.host().get() + " true works");
    }
    if (exitCode == NOT_FOUND) {
      return unavailable(
          "the command " + command.display() + " was not found: " + text(stderr),
          "install it there, or correct the settings of the provider");
    }
    return unavailable(
        command.display() + " " + verb + " failed with exit code " + exitCode + ": " + text(stderr),
        "run " + command.display() + " probe to find the cause");
  }

  SandboxException malformed(String verb, String what) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            command.display() + " " + verb + " returned an invalid result: " + what,
            "use a command of the local_microvm contract")
        .exception();
  }

  SandboxException timeout(String verb, long millis, String stderr) {
    String said = text(stderr);
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            command.display()
                + " "
                + verb
                + " did not end within "
                + millis
                + " ms"
                + (said.isEmpty() ? "" : ": " + said),
            "check the load of its machine")
        .exception();
  }

  private static SandboxException unavailable(String problem, String remedy) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem, remedy).exception();
  }

  /** Returns the error that the last line of standard error reports as JSON, if it does. */
  static Optional<Fault> reported(String stderr) {
    List<String> lines = stderr.lines().filter(line -> !line.isBlank()).toList();
    if (lines.isEmpty() || !lines.getLast().startsWith("{")) {
      return Optional.empty();
    }
    try {
      if (Json.parseObject(lines.getLast()).get("error") instanceof Map<?, ?> error
          && error.get("code") instanceof String code) {
        return Optional.of(
            Fault.of(
                CODES.getOrDefault(code, ErrorCode.PROVIDER_UNAVAILABLE),
                text(String.valueOf(error.get("message"))),
                error.get("remedy") instanceof String remedy ? text(remedy) : ""));
      }
    } catch (MalformedJson e) {
      // It is text, then.
    }
    return Optional.empty();
  }

  /** Returns whether the last line is a message of ssh: a command can have its exit code, too. */
  static boolean isFromSsh(String stderr) {
    String last = stderr.lines().filter(line -> !line.isBlank()).reduce("", (_, line) -> line);
    return last.matches(
        "(?i)(ssh|kex_exchange_identification|client_loop|Connection |Timeout, server|Host key"
            + " verification|Read from remote host|banner exchange|Received disconnect|Disconnected"
            + " from|mux_).*|.*Permission denied \\(.*");
  }

  /** Returns text of the controller on one line, without control characters. */
  static String text(String untrusted) {
    String line = untrusted.strip().replaceAll("\\p{Cntrl}+", " ");
    return line.length() <= MAX_TEXT ? line : "..." + line.substring(line.length() - MAX_TEXT);
  }
}
