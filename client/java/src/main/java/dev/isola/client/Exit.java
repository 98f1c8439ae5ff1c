package dev.isola.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** How a command ended. Only {@link Lost} means that its exit is unknown. */
public sealed interface Exit {
  /** Exited by itself. A nonzero code is a result, not an error. */
  record Exited(int code) implements Exit {}

  /** Terminated by a signal. */
  record Signaled(String signal, int number) implements Exit {}

  /** Exceeded its timeout; its whole process tree was killed. */
  record TimedOut(Duration after) implements Exit {}

  /** Killed because the sandbox reached its memory limit. */
  record OutOfMemory() implements Exit {}

  /** The sandbox was lost while the command ran. */
  record Lost(String why) implements Exit {}

  /**
   * Returns the code that a shell reports: the exit code, 128 plus the signal number, 124 for a
   * timeout, 137 for out of memory, 255 for a lost command.
   */
  default int shellCode() {
    return switch (this) {
      case Exited(int code) -> code;
      case Signaled(String ignored, int number) -> 128 + number;
      case TimedOut ignored -> 124;
      case OutOfMemory ignored -> 137;
      case Lost ignored -> 255;
    };
  }

  /** Returns the JSON object of the server's API. */
  default Map<String, Object> document() {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (this) {
      case Exited(int code) -> {
        json.put("kind", "exited");
        json.put("code", code);
      }
      case Signaled(String signal, int number) -> {
        json.put("kind", "signaled");
        json.put("signal", signal);
        json.put("number", number);
      }
      case TimedOut(Duration after) -> {
        json.put("kind", "timedOut");
        json.put("afterMs", after.toMillis());
      }
      case OutOfMemory() -> json.put("kind", "outOfMemory");
      case Lost(String why) -> {
        json.put("kind", "lost");
        json.put("why", why);
      }
    }
    return json;
  }

  /**
   * Reads the JSON object of the server's API. An unknown kind of a newer server becomes {@link
   * Lost}.
   */
  static Exit read(Map<String, Object> document) {
    JsonFields fields = new JsonFields(document);
    String kind = fields.text("kind");
    return switch (kind) {
      case "exited" ->
          new Exited(
              fields
                  .optionalInteger("code")
                  .or(() -> fields.optionalInteger("exitCode"))
                  .orElse(0L)
                  .intValue());
      case "signaled" ->
          new Signaled(
              fields.optionalText("signal").orElse("?"),
              fields.optionalInteger("number").orElse(0L).intValue());
      case "timedOut" ->
          new TimedOut(Duration.ofMillis(fields.optionalInteger("afterMs").orElse(0L)));
      case "outOfMemory" -> new OutOfMemory();
      case "lost" -> new Lost(fields.optionalText("why").orElse("unknown reason"));
      default -> new Lost("the exit kind '" + kind + "' is unknown to this client");
    };
  }
}
