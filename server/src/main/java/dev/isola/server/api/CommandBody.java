package dev.isola.server.api;

import dev.isola.server.error.Problem;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.Violation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Parses a command in the body of a request. */
final class CommandBody {
  private static final int MAX_LENGTH = 1 << 20;
  private static final int MAX_SHOWN = 500;

  /** One week. Longer commands should run in the background without a timeout. */
  private static final long MAX_TIMEOUT_MS = 604_800_000;

  private static final Shape ARGUMENTS = new Shape.ListOf(new Shape.Text(MAX_LENGTH, ""), 10_000);

  static final Shape.Obj SHAPE =
      new Shape.Obj(
          Field.optional(
                  "command",
                  new Shape.NonEmptyText(MAX_LENGTH),
                  "a command line for /bin/sh -c, or with mode argv a program; alternative to argv")
              .example("echo hello"),
          Field.optional(
              "mode",
              new Shape.Choice(
                  "CommandMode",
                  Stream.of(Command.Mode.values()).map(JsonViews::wireName).toList()),
              "how command runs: shell, the default, or argv, without a shell"),
          Field.optional(
              "args",
              ARGUMENTS,
              "arguments of command: in mode shell quoted and appended to the command line, in mode"
                  + " argv passed literally"),
          Field.optional(
              "argv",
              ARGUMENTS,
              "a program and its arguments, without a shell; alternative to command; beside"
                  + " command, an empty list counts as absent"),
          Field.optional(
              "env",
              new Shape.MapOf(
                  Shapes.TEXT,
                  new MatchingText("^[^=]+$", 4096, "must not be empty or contain =", "LANG")),
              "variables added to the environment of the sandbox"),
          Field.optional("cwd", Shapes.PATH, "working directory"),
          Field.optional("user", Shapes.WORD, "user that runs the command"),
          Field.optional(
              "timeoutMs",
              new Shape.WholeNumber(1, MAX_TIMEOUT_MS),
              "timeout after which the process tree is killed"),
          Field.optional("tag", Shapes.WORD, "a tag chosen by the client"));

  private CommandBody() {}

  static Command read(Map<String, Object> body) {
    Command command = words(body);
    if (body.get("env") instanceof Map<?, ?> env) {
      Map<String, String> texts = new LinkedHashMap<>();
      env.forEach((name, value) -> texts.put(String.valueOf(name), String.valueOf(value)));
      command = command.withEnv(texts);
    }
    if (body.get("cwd") instanceof String cwd) {
      command = command.withCwd(cwd);
    }
    if (body.get("user") instanceof String user) {
      command = command.withUser(user);
    }
    if (body.get("timeoutMs") instanceof Number time) {
      command = command.withTimeout(Duration.ofMillis(time.longValue()));
    }
    if (body.get("tag") instanceof String tag) {
      command = command.withTag(tag);
    }
    return command;
  }

  /** Reads what to run: {@code command} with {@code mode} and {@code args}, or {@code argv}. */
  private static Command words(Map<String, Object> body) {
    Object line = body.get("command");
    Object sent = body.get("argv");
    // Generated clients send an empty list for a field that was not set.
    Object argv = line != null && List.of().equals(sent) ? null : sent;
    if ((line == null) == (argv == null)) {
      throw invalid(
          "command", line == null ? "or argv is required" : "and argv are mutually exclusive");
    }
    List<String> args = texts(body.get("args"));
    if (argv == null) {
      String text = String.valueOf(line);
      return Command.Mode.ARGV.name().equalsIgnoreCase(String.valueOf(body.get("mode")))
          ? Command.argv(text, args)
          : Command.shell(text, args.toArray(String[]::new));
    }
    if (body.containsKey("mode") || !args.isEmpty()) {
      throw invalid(
          body.containsKey("mode") ? "mode" : "args",
          "belongs to command; argv is the program with all its arguments");
    }
    List<String> words = texts(argv);
    if (words.isEmpty()) {
      throw invalid("argv", "must not be empty");
    }
    return Command.argv(words.getFirst(), words.subList(1, words.size()));
  }

  private static List<String> texts(@Nullable Object list) {
    return list instanceof List<?> values
        ? values.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static SandboxException invalid(String field, String problem) {
    return Query.invalid(List.of(new Violation(field, problem)));
  }

  /** Returns the error of a command that could not be run, with the command. */
  static SandboxException failed(Command command, SandboxException e) {
    return e.fault().context().containsKey(Problem.COMMAND)
        ? e
        : e.fault().with(Problem.COMMAND, shown(command)).exception(e);
  }

  /** Returns a command for an error, truncated if it is long. */
  static String shown(Command command) {
    String text = command.display();
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }

  /** Decodes a string or {@code {"base64": ...}}. */
  static byte[] bytes(String field, Object content) {
    if (content instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(String.valueOf(((Map<?, ?>) content).get("base64")));
    } catch (IllegalArgumentException e) {
      throw invalid(field + ".base64", "is not base64");
    }
  }
}
