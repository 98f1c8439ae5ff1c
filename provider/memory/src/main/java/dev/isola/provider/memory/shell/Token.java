package dev.isola.provider.memory.shell;

/**
 * One token.
 *
 * @param text an operator as written; {@code \n} for the end of a line
 * @param number the descriptor before a redirection, or -1
 */
record Token(Kind kind, String text, Word word, int number) {
  enum Kind {
    WORD,
    OPERATOR,
    END
  }

  static Token word(Word word) {
    return new Token(Kind.WORD, word.plain(), word, -1);
  }

  static Token operator(String text, int number) {
    return new Token(Kind.OPERATOR, text, Word.EMPTY, number);
  }

  static Token end() {
    return new Token(Kind.END, "", Word.EMPTY, -1);
  }

  boolean is(String operator) {
    return kind == Kind.OPERATOR && text.equals(operator);
  }

  /** Tells whether this is {@code reserved}, written plainly. */
  boolean isWord(String reserved) {
    return kind == Kind.WORD && text.equals(reserved);
  }
}
