package dev.isola.spi.exec;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What to run. {@link #shell} gives the text to {@code /bin/sh -c}, with any arguments quoted and
 * appended; {@link #argv} runs a program directly, arguments literal. The other properties are
 * added with the {@code with} methods, each of which returns a new command.
 *
 * @param env added to the sandbox's own environment
 * @param cwd inside the sandbox; its working folder when empty
 * @param user a name or number, {@code user:group} too; the sandbox's user when empty
 * @param stdin whether the command gets an open standard input; otherwise it reads end of file at
 *     once
 * @param timeout after which its whole process tree is killed
 * @param tag a name of the caller's, shown in the list of executions
 */
public record Command(
    Mode mode,
    String program,
    List<String> args,
    Map<String, String> env,
    Optional<String> cwd,
    Optional<String> user,
    boolean stdin,
    Optional<Duration> timeout,
    Optional<String> tag) {

  public enum Mode {
    SHELL,
    ARGV
  }

  public Command {
    args = List.copyOf(args);
    env = Map.copyOf(new LinkedHashMap<>(env));
    List<String> problems = new ArrayList<>();
    if (program.isEmpty()) {
      problems.add("command is empty");
    }
    noNul(problems, "command", program);
    args.forEach(arg -> noNul(problems, "args", arg));
    env.forEach(
        (key, value) -> {
          if (key.isEmpty() || key.indexOf('=') >= 0) {
            problems.add("env has the name '" + key + "'");
          }
          noNul(problems, "env", key + value);
        });
    cwd.ifPresent(text -> noNul(problems, "cwd", text));
    user.ifPresent(text -> noNul(problems, "user", text));
    if (timeout.isPresent() && !timeout.get().isPositive()) {
      problems.add("timeout is not positive");
    }
    if (!problems.isEmpty()) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the command is invalid: " + String.join(", ", problems),
              "correct these fields")
          .exception();
    }
  }

  private static void noNul(List<String> problems, String field, String text) {
    if (text.indexOf('\0') >= 0) {
      problems.add(field + " contains a NUL");
    }
  }

  public static Command shell(String text, String... args) {
    return new Command(
        Mode.SHELL,
        text,
        List.of(args),
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.empty());
  }

  public static Command argv(String program, String... args) {
    return argv(program, List.of(args));
  }

  public static Command argv(String program, List<String> args) {
    return new Command(
        Mode.ARGV,
        program,
        args,
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.empty());
  }

  public Command withEnv(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(env);
    all.putAll(more);
    return new Command(mode, program, args, all, cwd, user, stdin, timeout, tag);
  }

  public Command withEnv(String name, String value) {
    return withEnv(Map.of(name, value));
  }

  public Command withCwd(String folder) {
    return new Command(mode, program, args, env, Optional.of(folder), user, stdin, timeout, tag);
  }

  public Command withUser(String name) {
    return new Command(mode, program, args, env, cwd, Optional.of(name), stdin, timeout, tag);
  }

  public Command withStdin() {
    return new Command(mode, program, args, env, cwd, user, true, timeout, tag);
  }

  public Command withTimeout(Duration limit) {
    return new Command(mode, program, args, env, cwd, user, stdin, Optional.of(limit), tag);
  }

  public Command withTag(String name) {
    return new Command(mode, program, args, env, cwd, user, stdin, timeout, Optional.of(name));
  }

  /** Returns the words to execute: in shell mode {@code /bin/sh -c} and the text. */
  public List<String> toArgv() {
    List<String> words = new ArrayList<>();
    switch (mode) {
      case SHELL -> {
        // A text that starts like an option would be taken for one: `sh -c -x` runs nothing.
        boolean optionLike = program.startsWith("-") || program.startsWith("+");
        StringBuilder text = new StringBuilder(optionLike ? " " : "").append(program);
        args.forEach(arg -> text.append(' ').append(quote(arg)));
        words.addAll(List.of("/bin/sh", "-c", text.toString()));
      }
      case ARGV -> {
        words.add(program);
        words.addAll(args);
      }
    }
    return words;
  }

  /** Returns the command as a person would type it. */
  public String display() {
    StringBuilder text = new StringBuilder(mode == Mode.SHELL ? program : quoteIfNeeded(program));
    args.forEach(arg -> text.append(' ').append(quoteIfNeeded(arg)));
    return text.toString();
  }

  private static String quoteIfNeeded(String word) {
    boolean plain =
        !word.isEmpty()
            && word.chars()
                .allMatch(
                    c -> c < 128 && (Character.isLetterOrDigit(c) || "@%+=:,./-_".indexOf(c) >= 0));
    return plain ? word : quote(word);
  }

  private static String quote(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }
}
