package dev.isola.provider.e2b.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The user of a command. envd accepts user names only; for a numeric id, or a user with a group,
 * root starts a program that switches to it.
 *
 * @param name the user name for envd; the sandbox's user if empty
 * @param launcher the command line prefix that switches the user
 */
record ExecutionUser(Optional<String> name, List<String> launcher) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");
  private static final Pattern PAIR = Pattern.compile("([A-Za-z0-9_.-]+)(?::([A-Za-z0-9_.-]+))?");

  static final ExecutionUser DEFAULT = new ExecutionUser(Optional.empty(), List.of());

  /** Returns the user; empty if the text cannot name a user. */
  static Optional<ExecutionUser> of(Optional<String> user) {
    if (user.isEmpty()) {
      return Optional.of(DEFAULT);
    }
    if (NAME.matcher(user.get()).matches()) {
      return Optional.of(new ExecutionUser(user, List.of()));
    }
    var pair = PAIR.matcher(user.get());
    if (!pair.matches() || user.get().startsWith("-")) {
      return Optional.empty();
    }
    String group = pair.group(2) == null ? pair.group(1) : pair.group(2);
    return Optional.of(
        new ExecutionUser(
            Optional.of("root"),
            List.of(
                "/usr/bin/setpriv",
                "--reuid=" + pair.group(1),
                "--regid=" + group,
                "--clear-groups",
                "--")));
  }

  /** Returns the command line that runs {@code script} with {@code args}. */
  List<String> commandLine(String script, List<String> args) {
    List<String> words = new ArrayList<>(launcher);
    words.addAll(List.of("/bin/sh", "-c", script, "isola"));
    words.addAll(args);
    return words;
  }
}
