package dev.isola.provider.memory.shell;

import java.util.List;
import java.util.Optional;

/** A program of the shell. */
sealed interface Ast {
  record Assignment(String name, Word value) {}

  /**
   * @param operator one of {@code < > >> >& <&}
   */
  record Redirection(int descriptor, String operator, Word target) {}

  record Simple(List<Assignment> assignments, List<Word> words, List<Redirection> redirections)
      implements Ast {}

  record Pipeline(List<Ast> stages, boolean negated) implements Ast {}

  /**
   * @param and whether the second runs when the first succeeds, or when it fails
   */
  record AndOr(Ast first, boolean and, Ast second) implements Ast {}

  record Sequence(List<Ast> steps) implements Ast {}

  record Background(Ast body) implements Ast {}

  record Subshell(Ast body) implements Ast {}

  record Loop(Ast condition, boolean until, Ast body) implements Ast {}

  record For(String name, Optional<List<Word>> words, Ast body) implements Ast {}

  record If(Ast condition, Ast then, Ast otherwise) implements Ast {}

  record Choice(List<Word> patterns, Ast body) {}

  record Case(Word subject, List<Choice> choices) implements Ast {}

  record Function(String name, Ast body) implements Ast {}

  record Redirected(Ast body, List<Redirection> redirections) implements Ast {}
}
