package dev.isola.provider.memory.shell;

import java.util.List;

/** A word as written: parts that are expanded when it is used. */
record Word(List<Part> parts) {
  static final Word EMPTY = new Word(List.of());

  Word {
    parts = List.copyOf(parts);
  }

  /** A part; what is quoted is neither split nor matched against files. */
  sealed interface Part {
    boolean quoted();
  }

  record Literal(String text, boolean quoted) implements Part {}

  /**
   * @param operator as in <code>${name:-word}</code>; empty for none, {@code #} for the length
   */
  record Variable(String name, String operator, Word argument, boolean quoted) implements Part {}

  record Substitution(String text, boolean quoted) implements Part {}

  record Sum(String text, boolean quoted) implements Part {}

  /** Returns the text when nothing in it is quoted or expanded, and an empty one otherwise. */
  String plain() {
    return parts.size() == 1
            && parts.getFirst() instanceof Literal(String text, boolean quoted)
            && !quoted
        ? text
        : "";
  }
}
