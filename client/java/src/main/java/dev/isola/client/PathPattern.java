package dev.isola.client;

import java.util.regex.Pattern;

/** Glob pattern with {@code *}, {@code ?}, {@code [a-z]} and {@code **}. */
record PathPattern(Pattern regex) {
  private static final String SPECIAL = "*?[";

  static PathPattern of(String text) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (text.startsWith("**/", i)) {
        regex.append("(?:.*/)?");
        i += 2;
      } else if (text.startsWith("**", i)) {
        regex.append(".*");
        i++;
      } else if (c == '*') {
        regex.append("[^/]*");
      } else if (c == '?') {
        regex.append("[^/]");
      } else if (c == '[' && text.indexOf(']', i + 2) > 0) {
        int end = text.indexOf(']', i + 2);
        String set = text.substring(i + 1, end).replace("\\", "\\\\").replace("[", "\\[");
        regex.append('[').append(set.replaceFirst("^!", "^")).append("&&[^/]]");
        i = end;
      } else {
        regex.append(Pattern.quote(String.valueOf(c)));
      }
    }
    return new PathPattern(Pattern.compile(regex.toString(), Pattern.DOTALL));
  }

  /** Returns whether the text contains wildcards. */
  static boolean isPattern(String text) {
    return text.chars().anyMatch(c -> SPECIAL.indexOf(c) >= 0);
  }

  /** Returns whether the pattern matches the path or one of its parent folders. */
  boolean matches(String path) {
    for (int end = path.length(); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (regex.matcher(path).region(0, end).matches()) {
        return true;
      }
    }
    return false;
  }
}
