package dev.isola.document.dockerfile;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The exec form of an instruction: a JSON array of strings. */
final class ExecForm {
  private final String text;
  private int at;

  private ExecForm(String text) {
    this.text = text;
  }

  /** Parses the exec form; empty if the text is not in that form, and so in the shell form. */
  static Optional<List<String>> parse(String text) {
    return text.startsWith("[") ? new ExecForm(text).array() : Optional.empty();
  }

  /** Returns words as a command for a shell, which passes them on literally. */
  static String shellCommand(List<String> words) {
    return words.stream().map(ExecForm::quoted).collect(Collectors.joining(" "));
  }

  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private Optional<List<String>> array() {
    List<String> words = new ArrayList<>();
    at = 1;
    skipSpaces();
    while (peek() == '"') {
      Optional<String> word = string();
      if (word.isEmpty()) {
        return Optional.empty();
      }
      words.add(word.get());
      skipSpaces();
      if (peek() == ',') {
        at++;
        skipSpaces();
        if (peek() != '"') {
          return Optional.empty();
        }
      }
    }
    boolean complete = peek() == ']' && text.substring(at + 1).isBlank();
    return complete && !words.isEmpty() ? Optional.of(words) : Optional.empty();
  }

  private Optional<String> string() {
    StringBuilder word = new StringBuilder();
    at++;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return Optional.of(word.toString());
      }
      if (c != '\\') {
        word.append(c);
        continue;
      }
      char escaped = peek();
      at++;
      switch (escaped) {
        case '"', '\\', '/' -> word.append(escaped);
        case 'n' -> word.append('\n');
        case 't' -> word.append('\t');
        case 'r' -> word.append('\r');
        case 'u' -> {
          String digits = text.substring(at, Math.min(at + 4, text.length()));
          if (!digits.matches("[0-9a-fA-F]{4}")) {
            return Optional.empty();
          }
          word.append((char) Integer.parseInt(digits, 16));
          at += 4;
        }
        default -> {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : '\0';
  }

  private void skipSpaces() {
    while (peek() == ' ' || peek() == '\t') {
      at++;
    }
  }
}
