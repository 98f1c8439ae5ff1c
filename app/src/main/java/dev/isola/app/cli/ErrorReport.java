package dev.isola.app.cli;

import dev.isola.codec.json.Json;
import dev.isola.server.error.Problem;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** Reports an error: one line on standard error, or one JSON object on standard output. */
public final class ErrorReport {
  private ErrorReport() {}

  public static void write(CliEnvironment environment, Fault fault, boolean json) {
    if (json) {
      byte[] text = (Json.text(json(fault)) + "\n").getBytes(StandardCharsets.UTF_8);
      try {
        environment.out().write(text);
        environment.out().flush();
      } catch (IOException closed) {
        // Output is closed; the exit code still reports the failure.
      }
    } else {
      writeLine(
          environment,
          fault.remedy().isEmpty() ? fault.problem() : fault.problem() + "; " + fault.remedy());
      if (fault.code() == ErrorCode.INIT_FAILED) {
        Stream.of("stdout", "stderr")
            .flatMap(channel -> fault.context().getOrDefault(channel, "").lines())
            .forEach(output -> writeLine(environment, "init: " + output));
        Stream.of("output", "startOutput")
            .flatMap(name -> fault.context().getOrDefault(name, "").lines())
            .forEach(output -> writeLine(environment, "startup: " + output));
      }
    }
  }

  /** Writes the error as one line of JSON on standard error, for a program that reads it. */
  public static void writeJsonLine(CliEnvironment environment, Fault fault) {
    writeToErr(environment, Json.text(json(fault)) + "\n");
  }

  static Map<String, ?> json(Fault fault) {
    Map<String, Object> error = new LinkedHashMap<>();
    error.put("code", fault.code().name());
    error.put("category", fault.code().category().name());
    error.put("message", fault.problem());
    error.put("remedy", fault.remedy());
    fault.sandbox().ifPresent(id -> error.put("sandbox", id.value()));
    error.putAll(Problem.details(fault));
    Map<String, String> context = new LinkedHashMap<>(fault.context());
    context.remove(Problem.SPEC);
    error.put("context", context);
    return Map.of("error", error);
  }

  /** Writes {@code isola: text}, with line breaks and control characters replaced. */
  public static void writeLine(CliEnvironment environment, String text) {
    StringBuilder line = new StringBuilder("isola: ");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      line.append(c == '\n' || c == '\t' ? ' ' : Character.isISOControl(c) ? '?' : c);
    }
    writeToErr(environment, line.append('\n').toString());
  }

  public static void writeStackTrace(CliEnvironment environment, Throwable cause) {
    StringWriter text = new StringWriter();
    cause.printStackTrace(new PrintWriter(text, true));
    writeToErr(environment, text.toString());
  }

  private static void writeToErr(CliEnvironment environment, String text) {
    try {
      environment.err().write(text.getBytes(StandardCharsets.UTF_8));
      environment.err().flush();
    } catch (IOException closed) {
      // Output is closed; the exit code still reports the failure.
    }
  }
}
