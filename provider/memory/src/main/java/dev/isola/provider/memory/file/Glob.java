package dev.isola.provider.memory.file;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A pattern. Of files: {@code *}, {@code ?} and {@code [a-z]} within one name, {@code **} across
 * folders, none of which matches a dot that a name starts with. Of text: the same characters, for
 * any text.
 */
public final class Glob {
  private static final String VISIBLE = "(?!\\.)";

  private final Pattern pattern;

  private Glob(String text, boolean files) {
    StringBuilder regex = new StringBuilder();
    int i = 0;
    while (i < text.length()) {
      i = files ? file(text, i, regex) : piece(text, i, regex, ".");
    }
    try {
      this.pattern = Pattern.compile(regex.toString(), Pattern.DOTALL);
    } catch (PatternSyntaxException e) {
      throw FileFaults.invalid(text, "is not a pattern");
    }
  }

  public static Glob ofFiles(String text) {
    return new Glob(text, true);
  }

  public static Glob ofText(String text) {
    return new Glob(text, false);
  }

  public boolean matches(String text) {
    return pattern.matcher(text).matches();
  }

  private static int file(String text, int i, StringBuilder regex) {
    boolean atNameStart = i == 0 || text.charAt(i - 1) == '/';
    if (atNameStart && text.startsWith("**/", i)) {
      regex.append("(?:" + VISIBLE + "[^/]+/)*");
      return i + 3;
    }
    if (text.startsWith("**", i)) {
      String first = atNameStart ? VISIBLE + "[^/]+" : "[^/]*";
      regex.append(first + "(?:/" + VISIBLE + "[^/]+)*");
      return i + 2;
    }
    if (atNameStart && "*?[".indexOf(text.charAt(i)) >= 0) {
      regex.append(VISIBLE);
    }
    return piece(text, i, regex, "[^/]");
  }

  private static int piece(String text, int i, StringBuilder regex, String any) {
    char c = text.charAt(i);
    if (c == '[' && text.indexOf(']', i + 2) > 0) {
      int end = text.indexOf(']', i + 2);
      String inside =
          text.substring(i + 1, end)
              .replace("\\", "\\\\")
              .replace("[", "\\[")
              .replace("&&", "&\\&");
      boolean negated = inside.startsWith("!") || inside.startsWith("^");
      regex
          .append(negated ? "[^/" : "[")
          .append(negated ? inside.substring(1) : inside)
          .append(']');
      return end + 1;
    }
    switch (c) {
      case '*' -> regex.append(any).append('*');
      case '?' -> regex.append(any);
      default -> regex.append(Pattern.quote(String.valueOf(c)));
    }
    return i + 1;
  }
}
