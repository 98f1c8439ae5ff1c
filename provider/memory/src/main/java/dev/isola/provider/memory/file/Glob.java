package dev.isola.provider.memory.file;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** A pattern: {@code *}, {@code ?} and {@code [a-z]} within one name, {@code **} across folders. */
public final class Glob {
  private final Pattern pattern;

  public Glob(String text) {
    StringBuilder regex = new StringBuilder();
    int i = 0;
    while (i < text.length()) {
      i = translate(text, i, regex);
    }
    try {
      this.pattern = Pattern.compile(regex.toString(), Pattern.DOTALL);
    } catch (PatternSyntaxException e) {
      throw FileFaults.invalid(text, "is not a pattern");
    }
  }

  public boolean matches(String path) {
    return pattern.matcher(path).matches();
  }

  private static int translate(String text, int i, StringBuilder regex) {
    char c = text.charAt(i);
    if (text.startsWith("**/", i)) {
      regex.append("(?:.*/)?");
      return i + 3;
    }
    if (text.startsWith("**", i)) {
      regex.append(".*");
      return i + 2;
    }
    if (c == '[' && text.indexOf(']', i + 2) > 0) {
      int end = text.indexOf(']', i + 2);
      String inside = text.substring(i + 1, end).replace("\\", "\\\\").replace("[", "\\[");
      boolean negated = inside.startsWith("!") || inside.startsWith("^");
      regex.append(negated ? "[^/" : "[").append(negated ? inside.substring(1) : inside).append(']');
      return end + 1;
    }
    switch (c) {
      case '*' -> regex.append("[^/]*");
      case '?' -> regex.append("[^/]");
      default -> regex.append(Pattern.quote(String.valueOf(c)));
    }
    return i + 1;
  }
}
