package dev.isola.scripts;

import java.util.ArrayList;
import java.util.List;

/** Words of a POSIX shell: quotes them for a remote shell, and splits a configured command. */
public final class ShellWords {
  private ShellWords() {}

  /** Returns the word such that a shell reads exactly it, whatever it contains but NUL. */
  public static String quote(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /**
   * Splits a command line at blanks, with the quotes and backslashes of a shell; nothing is
   * expanded.
   *
   * @throws IllegalArgumentException if a quote is not closed, or there is no word
   */
  public static List<String> split(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean begun = false;
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      boolean escapes = c == '\\' && quote != '\'' && i + 1 < line.length();
      if (escapes && (quote == 0 || "\"\\".indexOf(line.charAt(i + 1)) >= 0)) {
        i++;
        word.append(line.charAt(i));
        begun = true;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        begun = true;
      } else if (c == quote) {
        quote = 0;
      } else if (quote == 0 && Character.isWhitespace(c)) {
        if (begun) {
          words.add(word.toString());
          word.setLength(0);
          begun = false;
        }
      } else {
        word.append(c);
        begun = true;
      }
    }
    if (quote != 0) {
      throw new IllegalArgumentException("has a quote that is not closed");
    }
    if (begun) {
      words.add(word.toString());
    }
    if (words.isEmpty()) {
      throw new IllegalArgumentException("has no word");
    }
    return words;
  }
}
