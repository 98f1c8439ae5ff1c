package dev.isola.document.dockerfile;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Splits the text of an instruction into words, removes quotes and replaces {@code $NAME}, {@code
 * ${NAME}}, {@code ${NAME:-default}} and {@code ${NAME:+other}}. A variable without a value is
 * empty.
 */
final class WordExpansion {
  /** The longest text that an instruction may expand to, because variables multiply each other. */
  static final int MAX_LENGTH = 64 * 1024;

  private final Instruction instruction;
  private final Map<String, String> variables;
  private final List<String> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean inWord;
  private int length;

  private WordExpansion(Instruction instruction, Map<String, String> variables) {
    this.instruction = instruction;
    this.variables = variables;
  }

  /** Returns the words of a text. */
  static List<String> words(Instruction instruction, String text, Map<String, String> variables) {
    WordExpansion expansion = new WordExpansion(instruction, variables);
    expansion.expand(text, true);
    expansion.endWord();
    return expansion.words;
  }

  /** Returns a text as one word. */
  static String text(Instruction instruction, String text, Map<String, String> variables) {
    WordExpansion expansion = new WordExpansion(instruction, variables);
    expansion.expand(text, false);
    return expansion.word.toString();
  }

  private void expand(String text, boolean split) {
    char quote = '\0';
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      char next = i + 1 < text.length() ? text.charAt(i + 1) : '\0';
      if (quote == '\'') {
        quote = c == '\'' ? '\0' : quote;
        if (c != '\'') {
          append(c);
        }
      } else if (c == '\\' && next != '\0' && (quote == '\0' || "\"\\$".indexOf(next) >= 0)) {
        append(next);
        i++;
      } else if (c == '"' || (c == '\'' && quote == '\0')) {
        quote = quote == c ? '\0' : c;
        inWord = true;
      } else if (c == '$') {
        i = variable(text, i);
      } else if (split && quote == '\0' && Character.isWhitespace(c)) {
        endWord();
      } else {
        append(c);
      }
    }
    if (quote != '\0') {
      throw instruction.refused("a quote (" + quote + ") is not closed", "close it");
    }
  }

  /** Replaces the variable at {@code start} and returns the index of its last character. */
  private int variable(String text, int start) {
    boolean braces = text.startsWith("${", start);
    int begin = start + (braces ? 2 : 1);
    int end = begin;
    while (end < text.length()
        && (Character.isLetterOrDigit(text.charAt(end)) || text.charAt(end) == '_')) {
      end++;
    }
    String name = text.substring(begin, end);
    if (name.isEmpty() && !braces) {
      append('$');
      return start;
    }
    String value = variables.getOrDefault(name, "");
    if (!braces) {
      append(value);
      return end - 1;
    }
    int close = text.indexOf('}', end);
    String operation = close < 0 ? "?" : text.substring(end, close);
    if (operation.isEmpty()) {
      append(value);
    } else if (operation.startsWith(":-") && operation.indexOf('$') < 0) {
      append(value.isEmpty() ? operation.substring(2) : value);
    } else if (operation.startsWith(":+") && operation.indexOf('$') < 0) {
      append(value.isEmpty() ? "" : operation.substring(2));
    } else {
      throw instruction.refused(
          "the substitution ${" + name + "...} is not supported",
          "use ${NAME}, ${NAME:-default} or ${NAME:+other}");
    }
    return close;
  }

  private void append(char c) {
    append(String.valueOf(c));
  }

  private void append(String text) {
    length += text.length();
    if (length > MAX_LENGTH) {
      throw instruction.refused(
          "it expands to more than " + MAX_LENGTH + " characters", "use shorter variables");
    }
    word.append(text);
    inWord = true;
  }

  private void endWord() {
    if (inWord) {
      words.add(word.toString());
      word.setLength(0);
      inWord = false;
    }
  }
}
