package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.shell.Word.Part;
import java.util.ArrayList;
import java.util.List;

/** Cuts a text into tokens. */
final class Lexer {
  private static final List<String> OPERATORS =
      List.of(
          ";;", "&&", "||", ">>", ">&", "<&", ">|", "<<", ";", "&", "|", "(", ")", "<", ">", "\n");

  private final String text;
  private int at;

  Lexer(String text) {
    this.text = text;
  }

  Token next() {
    skipBlanks();
    if (at >= text.length()) {
      return Token.end();
    }
    int digits = at;
    while (digits < text.length() && Character.isDigit(text.charAt(digits))) {
      digits++;
    }
    boolean redirection = digits < text.length() && "<>".indexOf(text.charAt(digits)) >= 0;
    int number = -1;
    if (digits > at && redirection) {
      number = Integer.parseInt(text.substring(at, digits));
      at = digits;
    }
    for (String operator : OPERATORS) {
      if (text.startsWith(operator, at)) {
        at += operator.length();
        return Token.operator(operator, number);
      }
    }
    return Token.word(word());
  }

  private void skipBlanks() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '#') {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (text.startsWith("\\\n", at)) {
        at += 2;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        at++;
      } else {
        return;
      }
    }
  }

  private Word word() {
    List<Part> parts = new ArrayList<>();
    StringBuilder plain = new StringBuilder();
    while (at < text.length() && " \t\r\n;&|()<>".indexOf(text.charAt(at)) < 0) {
      char c = text.charAt(at);
      switch (c) {
        case '\'' -> {
          flush(plain, parts);
          parts.add(new Word.Literal(until('\''), true));
        }
        case '"' -> {
          flush(plain, parts);
          at++;
          quoted(parts);
        }
        case '\\' -> {
          flush(plain, parts);
          escape(parts);
        }
        case '$', '`' -> {
          flush(plain, parts);
          parts.add(new Expansions(this).part(false));
        }
        default -> {
          plain.append(c);
          at++;
        }
      }
    }
    flush(plain, parts);
    return new Word(parts);
  }

  private static void flush(StringBuilder plain, List<Part> parts) {
    if (!plain.isEmpty()) {
      parts.add(new Word.Literal(plain.toString(), false));
      plain.setLength(0);
    }
  }

  private void escape(List<Part> parts) {
    if (at + 1 >= text.length()) {
      throw new SyntaxError("unterminated escape", true);
    }
    if (text.charAt(at + 1) != '\n') {
      parts.add(new Word.Literal(text.substring(at + 1, at + 2), true));
    }
    at += 2;
  }

  private String until(char quote) {
    int end = text.indexOf(quote, at + 1);
    if (end < 0) {
      throw new SyntaxError("Unterminated quoted string", true);
    }
    String inside = text.substring(at + 1, end);
    at = end + 1;
    return inside;
  }

  /** Reads the inside of double quotes, up to and with the closing one. */
  private void quoted(List<Part> parts) {
    StringBuilder plain = new StringBuilder();
    while (true) {
      if (at >= text.length()) {
        throw new SyntaxError("Unterminated quoted string", true);
      }
      char c = text.charAt(at);
      if (c == '"') {
        at++;
        parts.add(new Word.Literal(plain.toString(), true));
        return;
      }
      if (c == '\\' && at + 1 < text.length() && "$`\"\\\n".indexOf(text.charAt(at + 1)) >= 0) {
        if (text.charAt(at + 1) != '\n') {
          plain.append(text.charAt(at + 1));
        }
        at += 2;
      } else if (c == '$' || c == '`') {
        parts.add(new Word.Literal(plain.toString(), true));
        plain.setLength(0);
        parts.add(new Expansions(this).part(true));
      } else {
        plain.append(c);
        at++;
      }
    }
  }

  String text() {
    return text;
  }

  int position() {
    return at;
  }

  void position(int next) {
    at = next;
  }

  /** Reads a text as one word, blanks included, as inside of <code>${name:-...}</code>. */
  static Word wholeWord(String text) {
    Lexer lexer = new Lexer(text);
    List<Part> parts = new ArrayList<>();
    while (lexer.at < text.length()) {
      if (" \t\r\n;&|()<>".indexOf(text.charAt(lexer.at)) >= 0) {
        parts.add(new Word.Literal(text.substring(lexer.at, ++lexer.at), false));
      } else {
        parts.addAll(lexer.word().parts());
      }
    }
    return new Word(parts);
  }
}
