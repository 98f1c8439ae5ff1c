package dev.isola.provider.e2b.file;

import java.util.List;

/** Translates globs to POSIX regular expressions for {@code find}. */
final class GlobPatterns {
  /** Matches no path. */
  private static final String NOTHING = "^$";

  private GlobPatterns() {}

  /** Returns an expression for all paths below {@code start} that match one of {@code globs}. */
  static String anyOf(String start, List<String> globs) {
    if (globs.isEmpty()) {
      return NOTHING;
    }
    return quoted(start)
        + "("
        + String.join("|", globs.stream().map(glob -> of(glob, true)).toList())
        + ")";
  }

  static String beneath(String start, String glob) {
    return quoted(start) + of(glob, false);
  }

  /**
   * @param dots whether a star matches a leading dot
   */
  private static String of(String glob, boolean dots) {
    StringBuilder regex = new StringBuilder();
    int at = 0;
    while (at < glob.length()) {
      boolean first = at == 0 || glob.charAt(at - 1) == '/';
      String notDot = first && !dots ? "[^./]" : "[^/]";
      char c = glob.charAt(at);
      if (first && glob.startsWith("**/", at)) {
        regex.append(dots ? "([^/]+/)*" : "([^./][^/]*/)*");
        at += 3;
      } else if (first && glob.startsWith("**", at) && at + 2 == glob.length()) {
        regex.append(dots ? "([^/]+/)*[^/]+" : "([^./][^/]*/)*[^./][^/]*");
        at += 2;
      } else if (c == '*') {
        regex.append(first && !dots ? "([^./][^/]*)?" : "[^/]*");
        at++;
      } else if (c == '?') {
        regex.append(notDot);
        at++;
      } else if (c == '[' && glob.indexOf(']', at + 2) > 0) {
        int end = glob.indexOf(']', at + 2);
        String inner = glob.substring(at + 1, end);
        boolean not = inner.startsWith("!") || inner.startsWith("^");
        regex.append(not ? "[^/" : "[").append(not ? inner.substring(1) : inner).append(']');
        at = end + 1;
      } else {
        if (c == '\\' && at + 1 < glob.length()) {
          at++;
          c = glob.charAt(at);
        }
        regex.append(quoted(String.valueOf(c)));
        at++;
      }
    }
    return regex.toString();
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (".[]{}()*+?|^$\\".indexOf(c) >= 0) {
        quoted.append('\\');
      }
      quoted.append(c);
    }
    return quoted.toString();
  }
}
