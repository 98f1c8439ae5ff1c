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
 * A command to run. {@link #shell} passes a script to {@code /bin/sh -c}, with the arguments quoted
 * and appended; {@link #argv} runs a program directly with literal arguments. The {@code with}
 * methods set the other properties; each returns a new command.
 *
 * @param env variables added to the environment of the sandbox
 * @param cwd working folder inside the sandbox; empty for the sandbox's own
 * @param user a name or number, optionally {@code user:group}; empty for the sandbox's user
 * @param stdin whether standard input is open; if not, the command reads end of file immediately
 * @param timeout the time after which the whole process tree is killed
 * @param tag a label chosen by the client, shown in the list of executions
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
            problems.add("env has the invalid name '" + key + "'");
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

  public Command withTimeout(Duration timeout) {
    return new Command(mode, program, args, env, cwd, user, stdin, Optional.of(timeout), tag);
  }

  public Command withTag(String name) {
    return new Command(mode, program, args, env, cwd, user, stdin, timeout, Optional.of(name));
  }

  /**
   * Returns the argument vector to execute; in shell mode that is {@code /bin/sh -c} and the
   * script.
   */
  public List<String> toArgv() {
    List<String> words = new ArrayList<>();
    switch (mode) {
      case SHELL -> {
        // A leading space keeps the shell from parsing the script as an option: `sh -c -x` runs
        // nothing.
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

  /** Returns the command as typed at a shell prompt. */
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
