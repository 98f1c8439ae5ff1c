package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.shell.Word.Part;

/** Reads what starts with a dollar sign or a backquote. */
final class Expansions {
  private final Lexer lexer;
  private final String text;

  Expansions(Lexer lexer) {
    this.lexer = lexer;
    this.text = lexer.text();
  }

  Part part(boolean quoted) {
    int at = lexer.position();
    if (text.charAt(at) == '`') {
      int end = text.indexOf('`', at + 1);
      if (end < 0) {
        throw new SyntaxError("Unterminated backquote", true);
      }
      lexer.position(end + 1);
      return new Word.Substitution(text.substring(at + 1, end), quoted);
    }
    if (text.startsWith("$((", at)) {
      int inner = closing(at + 2, '(', ')');
      if (text.startsWith("))", inner)) {
        lexer.position(inner + 2);
        return new Word.Sum(text.substring(at + 3, inner), quoted);
      }
    }
    if (text.startsWith("$(", at)) {
      int end = closing(at + 1, '(', ')');
      lexer.position(end + 1);
      return new Word.Substitution(text.substring(at + 2, end), quoted);
    }
    if (text.startsWith("${", at)) {
      int end = closing(at + 1, '{', '}');
      lexer.position(end + 1);
      return braces(text.substring(at + 2, end), quoted);
    }
    return name(at + 1, quoted);
  }

  private Part name(int from, boolean quoted) {
    int end = nameEnd(text, from);
    if (end == from) {
      boolean special = from < text.length() && "?$!#@*-0123456789".indexOf(text.charAt(from)) >= 0;
      lexer.position(special ? from + 1 : from);
      return special
          ? new Word.Variable(text.substring(from, from + 1), "", Word.EMPTY, quoted)
          : new Word.Literal("$", true);
    }
    lexer.position(end);
    return new Word.Variable(text.substring(from, end), "", Word.EMPTY, quoted);
  }

  private static int nameEnd(String text, int from) {
    int end = from;
    while (end < text.length()
        && (Character.isLetter(text.charAt(end))
            || text.charAt(end) == '_'
            || (end > from && Character.isDigit(text.charAt(end))))) {
      end++;
    }
    return end;
  }

  private static Part braces(String inside, boolean quoted) {
    if (inside.startsWith("#") && inside.length() > 1) {
      return new Word.Variable(inside.substring(1), "#", Word.EMPTY, quoted);
    }
    int end = nameEnd(inside, 0);
    if (end == 0) {
      end = Math.min(1, inside.length());
    }
    String rest = inside.substring(end);
    for (String operator :
        new String[] {":-", ":=", ":+", ":?", "%%", "##", "-", "=", "+", "?", "%", "#"}) {
      if (rest.startsWith(operator)) {
        Word argument = Lexer.wholeWord(rest.substring(operator.length()));
        return new Word.Variable(inside.substring(0, end), operator, argument, quoted);
      }
    }
    if (!rest.isEmpty() || inside.isEmpty()) {
      throw new SyntaxError("Bad substitution", false);
    }
    return new Word.Variable(inside, "", Word.EMPTY, quoted);
  }

  /**
   * Returns where the bracket that opens at {@code from} is closed; quotes inside are respected.
   */
  private int closing(int from, char open, char close) {
    int depth = 0;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
      } else if (c == '\'' && open == '(') {
        i = text.indexOf('\'', i + 1);
        if (i < 0) {
          break;
        }
      } else if (c == '"') {
        i = quoteEnd(i);
      } else if (c == open) {
        depth++;
      } else if (c == close && --depth == 0) {
        return i;
      }
    }
    throw new SyntaxError("Unterminated expansion", true);
  }

  private int quoteEnd(int from) {
    int i = from + 1;
    while (i < text.length() && text.charAt(i) != '"') {
      i += text.charAt(i) == '\\' ? 2 : 1;
    }
    return i;
  }
}
