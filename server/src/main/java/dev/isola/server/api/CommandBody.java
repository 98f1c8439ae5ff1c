package dev.isola.server.api;

import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.Violation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses a command in the body of a request. */
final class CommandBody {
  private static final int MAX_LENGTH = 1 << 20;

  /** One week. Longer commands should run in the background without a timeout. */
  private static final long MAX_TIMEOUT_MS = 604_800_000;

  static final Shape.Obj SHAPE =
      new Shape.Obj(
          Field.optional(
                  "command",
                  new Shape.NonEmptyText(MAX_LENGTH),
                  "a command line for /bin/sh -c; alternative to argv")
              .example("echo hello"),
          Field.optional(
              "argv",
              new Shape.ListOf(new Shape.Text(MAX_LENGTH, ""), 10_000),
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
    Object shell = body.get("command");
    Object sent = body.get("argv");
    // Generated clients send an empty list for a field that was not set.
    Object argv = shell != null && List.of().equals(sent) ? null : sent;
    if ((shell == null) == (argv == null)) {
      throw Query.invalid(
          List.of(
              new Violation(
                  "command",
                  shell == null ? "or argv is required" : "and argv are mutually exclusive")));
    }
    Command command;
    if (shell instanceof String text) {
      command = Command.shell(text);
    } else if (argv instanceof List<?> list && !list.isEmpty()) {
      List<String> words = list.stream().map(String::valueOf).toList();
      command = Command.argv(words.getFirst(), words.subList(1, words.size()));
    } else {
      throw Query.invalid(List.of(new Violation("argv", "must not be empty")));
    }
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

  /** Decodes a string or {@code {"base64": ...}}. */
  static byte[] bytes(String field, Object content) {
    if (content instanceof String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(String.valueOf(((Map<?, ?>) content).get("base64")));
    } catch (IllegalArgumentException e) {
      throw Query.invalid(List.of(new Violation(field + ".base64", "is not base64")));
    }
  }
}
