package dev.isola.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Rules of a {@code .dockerignore} file: patterns of paths to skip, or to include if they start
 * with {@code !}. The last matching line wins.
 */
final class IgnoreRules {
  private static final String NAME = ".dockerignore";

  private record Rule(PathPattern pattern, boolean ignored) {}

  private final List<Rule> rules = new ArrayList<>();

  private IgnoreRules() {}

  static IgnoreRules in(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    return of(Files.isRegularFile(file) ? Files.readAllLines(file) : List.of());
  }

  static IgnoreRules of(List<String> lines) {
    IgnoreRules all = new IgnoreRules();
    for (String line : lines) {
      String text = line.strip();
      boolean ignored = !text.startsWith("!");
      String pattern = (ignored ? text : text.substring(1)).replaceAll("^(\\./|/)+|/+$", "");
      if (!pattern.isEmpty() && !text.startsWith("#")) {
        all.rules.add(new Rule(PathPattern.of(pattern), ignored));
      }
    }
    return all;
  }

  boolean ignores(String path) {
    boolean ignored = false;
    for (Rule rule : rules) {
      if (rule.ignored() != ignored && rule.pattern().matches(path)) {
        ignored = rule.ignored();
      }
    }
    return ignored;
  }

  /**
   * Returns whether an ignored folder can be skipped entirely, because no rule includes anything in
   * it.
   */
  boolean prunes() {
    return rules.stream().allMatch(Rule::ignored);
  }
}
