package dev.isola.provider.e2b.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Who a command runs as. envd knows users by their names; a number, or a group beside the user, is
 * taken on by a program that root starts.
 *
 * @param name for envd; the sandbox's own user when empty
 * @param before the words before the command's
 */
record Who(Optional<String> name, List<String> before) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");
  private static final Pattern PAIR = Pattern.compile("([A-Za-z0-9_.-]+)(?::([A-Za-z0-9_.-]+))?");

  static final Who SANDBOXS = new Who(Optional.empty(), List.of());

  /** Returns nothing where the text names nobody that could be. */
  static Optional<Who> of(Optional<String> user) {
    if (user.isEmpty()) {
      return Optional.of(SANDBOXS);
    }
    if (NAME.matcher(user.get()).matches()) {
      return Optional.of(new Who(user, List.of()));
    }
    var pair = PAIR.matcher(user.get());
    if (!pair.matches() || user.get().startsWith("-")) {
      return Optional.empty();
    }
    String group = pair.group(2) == null ? pair.group(1) : pair.group(2);
    return Optional.of(
        new Who(
            Optional.of("root"),
            List.of(
                "/usr/bin/setpriv",
                "--reuid=" + pair.group(1),
                "--regid=" + group,
                "--clear-groups",
                "--")));
  }

  /** Returns the words that run {@code script} with {@code args}. */
  List<String> words(String script, List<String> args) {
    List<String> words = new ArrayList<>(before);
    words.addAll(List.of("/bin/sh", "-c", script, "isola"));
    words.addAll(args);
    return words;
  }
}
