package dev.isola.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A command to run in a sandbox.
 *
 * <pre>{@code
 * Command.shell("make test 2>&1 | tail").withCwd("src").withTimeout(Duration.ofMinutes(5))
 * Command.argv("python3", "-c", "print(1)").withEnv("LANG", "C")
 * }</pre>
 *
 * @param shell script for {@code /bin/sh -c}; empty if {@code argv} is set
 * @param args arguments of the script: the server quotes and appends them, so that the shell
 *     interprets none of them; empty if {@code argv} is set
 * @param argv program and arguments, passed literally
 * @param env added to the environment of the sandbox
 * @param timeout after which the whole process tree is killed
 * @param tag label chosen by the caller
 */
public record Command(
    Optional<String> shell,
    List<String> args,
    List<String> argv,
    Map<String, String> env,
    Optional<String> cwd,
    Optional<String> user,
    Optional<Duration> timeout,
    Optional<String> tag) {

  public Command {
    args = List.copyOf(args);
    argv = List.copyOf(argv);
    env = Map.copyOf(env);
    if (shell.isPresent() != argv.isEmpty()) {
      throw new IllegalArgumentException("a command has either a shell script or argv");
    }
    if (shell.isEmpty() && !args.isEmpty()) {
      throw new IllegalArgumentException("argv contains all arguments; args belong to a script");
    }
  }

  /**
   * Returns a command for {@code /bin/sh -c}.
   *
   * @param args appended to the script, quoted: the shell interprets nothing in them
   */
  public static Command shell(String text, String... args) {
    return of(Optional.of(text), List.of(args), List.of());
  }

  public static Command argv(String... words) {
    return argv(List.of(words));
  }

  public static Command argv(List<String> words) {
    return of(Optional.empty(), List.of(), words);
  }

  private static Command of(Optional<String> shell, List<String> args, List<String> argv) {
    return new Command(
        shell,
        args,
        argv,
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  public Command withEnv(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(env);
    more.put(name, value);
    return withEnv(more);
  }

  public Command withEnv(Map<String, String> all) {
    return new Command(shell, args, argv, all, cwd, user, timeout, tag);
  }

  public Command withCwd(String folder) {
    return new Command(shell, args, argv, env, Optional.of(folder), user, timeout, tag);
  }

  public Command withUser(String name) {
    return new Command(shell, args, argv, env, cwd, Optional.of(name), timeout, tag);
  }

  public Command withTimeout(Duration time) {
    return new Command(shell, args, argv, env, cwd, user, Optional.of(time), tag);
  }

  public Command withTag(String name) {
    return new Command(shell, args, argv, env, cwd, user, timeout, Optional.of(name));
  }

  Map<String, Object> document() {
    Map<String, Object> json = new LinkedHashMap<>();
    shell.ifPresent(text -> json.put("command", text));
    if (shell.isEmpty()) {
      json.put("argv", argv);
    }
    if (!args.isEmpty()) {
      json.put("args", args);
    }
    if (!env.isEmpty()) {
      json.put("env", env);
    }
    cwd.ifPresent(folder -> json.put("cwd", folder));
    user.ifPresent(name -> json.put("user", name));
    timeout.ifPresent(time -> json.put("timeoutMs", time.toMillis()));
    tag.ifPresent(name -> json.put("tag", name));
    return json;
  }
}
