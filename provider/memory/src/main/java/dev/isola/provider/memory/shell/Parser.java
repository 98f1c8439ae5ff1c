package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.shell.Ast.Assignment;
import dev.isola.provider.memory.shell.Ast.Redirection;
import dev.isola.provider.memory.shell.Token.Kind;
import dev.isola.provider.memory.shell.Word.Literal;
import dev.isola.provider.memory.shell.Word.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns a text into a program. */
final class Parser {
  static final Set<String> RESERVED =
      Set.of(
          "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "in", "case",
          "esac", "{", "}", "!");

  private static final Set<String> CLOSING =
      Set.of("then", "elif", "else", "fi", "do", "done", "esac", "}");
  private static final Set<String> REDIRECTIONS = Set.of("<", ">", ">>", ">&", "<&", ">|");
  private static final Pattern ASSIGNMENT =
      Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)=(.*)", Pattern.DOTALL);
  private static final Ast.Sequence NOTHING = new Ast.Sequence(List.of());

  private final Lexer lexer;
  private Token current;

  private Parser(String text) {
    this.lexer = new Lexer(text);
    this.current = lexer.next();
  }

  static Ast parse(String text) {
    Parser parser = new Parser(text);
    Ast program = parser.list();
    if (parser.current.kind() != Kind.END) {
      throw parser.unexpected();
    }
    return program;
  }

  private Token take() {
    Token taken = current;
    current = lexer.next();
    return taken;
  }

  private SyntaxError unexpected() {
    boolean end = current.kind() == Kind.END;
    String what =
        end
            ? "end of file"
            : "\"" + (current.text().equals("\n") ? "newline" : current.text()) + "\"";
    return new SyntaxError("Syntax error: " + what + " unexpected", end);
  }

  private void expectWord(String reserved) {
    if (!current.isWord(reserved)) {
      throw unexpected();
    }
    take();
  }

  private void skipNewlines() {
    while (current.is("\n")) {
      take();
    }
  }

  private boolean atEndOfList() {
    return current.kind() == Kind.END
        || current.is(")")
        || current.is(";;")
        || (current.kind() == Kind.WORD && CLOSING.contains(current.text()));
  }

  private Ast list() {
    List<Ast> steps = new ArrayList<>();
    skipNewlines();
    while (!atEndOfList()) {
      Ast step = andOr();
      if (current.is("&")) {
        take();
        step = new Ast.Background(step);
      } else if (current.is(";") || current.is("\n")) {
        take();
      } else if (!atEndOfList()) {
        throw unexpected();
      }
      steps.add(step);
      skipNewlines();
    }
    return steps.size() == 1 ? steps.getFirst() : new Ast.Sequence(steps);
  }

  /** A list that must not be empty, as between {@code do} and {@code done}. */
  private Ast body() {
    Ast body = list();
    if (body.equals(NOTHING)) {
      throw unexpected();
    }
    return body;
  }

  private Ast andOr() {
    Ast first = pipeline();
    while (current.is("&&") || current.is("||")) {
      boolean and = take().text().equals("&&");
      skipNewlines();
      first = new Ast.AndOr(first, and, pipeline());
    }
    return first;
  }

  private Ast pipeline() {
    boolean negated = current.isWord("!");
    if (negated) {
      take();
    }
    List<Ast> stages = new ArrayList<>();
    stages.add(command());
    while (current.is("|")) {
      take();
      skipNewlines();
      stages.add(command());
    }
    return stages.size() == 1 && !negated ? stages.getFirst() : new Ast.Pipeline(stages, negated);
  }

  private Ast command() {
    Ast compound =
        switch (current.kind() == Kind.WORD ? current.text() : current.is("(") ? "(" : "") {
          case "(" -> subshell();
          case "{" -> group();
          case "if" -> condition();
          case "while", "until" -> loop();
          case "for" -> forLoop();
          case "case" -> choices();
          default -> null;
        };
    if (compound == null) {
      return simple();
    }
    List<Redirection> redirections = new ArrayList<>();
    while (isRedirection()) {
      redirections.add(redirection());
    }
    return redirections.isEmpty() ? compound : new Ast.Redirected(compound, redirections);
  }

  private Ast subshell() {
    take();
    Ast body = body();
    if (!current.is(")")) {
      throw unexpected();
    }
    take();
    return new Ast.Subshell(body);
  }

  private Ast group() {
    take();
    Ast body = body();
    expectWord("}");
    return body;
  }

  private Ast condition() {
    take();
    Ast condition = body();
    expectWord("then");
    Ast then = body();
    Ast otherwise = NOTHING;
    if (current.isWord("elif")) {
      return new Ast.If(condition, then, condition());
    }
    if (current.isWord("else")) {
      take();
      otherwise = body();
    }
    expectWord("fi");
    return new Ast.If(condition, then, otherwise);
  }

  private Ast loop() {
    boolean until = take().text().equals("until");
    Ast condition = body();
    return new Ast.Loop(condition, until, doBody());
  }

  private Ast doBody() {
    expectWord("do");
    Ast body = body();
    expectWord("done");
    return body;
  }

  private Ast forLoop() {
    take();
    String name = take().text();
    skipNewlines();
    Optional<List<Word>> words = Optional.empty();
    if (current.isWord("in")) {
      take();
      List<Word> listed = new ArrayList<>();
      while (current.kind() == Kind.WORD) {
        listed.add(take().word());
      }
      words = Optional.of(listed);
    }
    if (current.is(";")) {
      take();
    }
    skipNewlines();
    return new Ast.For(name, words, doBody());
  }

  private Ast choices() {
    take();
    Word subject = take().word();
    skipNewlines();
    expectWord("in");
    skipNewlines();
    List<Ast.Choice> choices = new ArrayList<>();
    while (!current.isWord("esac")) {
      choices.add(choice());
      skipNewlines();
    }
    take();
    return new Ast.Case(subject, choices);
  }

  private Ast.Choice choice() {
    if (current.is("(")) {
      take();
    }
    List<Word> patterns = new ArrayList<>();
    do {
      if (current.is("|")) {
        take();
      }
      if (current.kind() != Kind.WORD) {
        throw unexpected();
      }
      patterns.add(take().word());
    } while (current.is("|"));
    if (!current.is(")")) {
      throw unexpected();
    }
    take();
    Ast body = list();
    if (current.is(";;")) {
      take();
    }
    return new Ast.Choice(patterns, body);
  }

  private boolean isRedirection() {
    return current.kind() == Kind.OPERATOR && REDIRECTIONS.contains(current.text());
  }

  private Redirection redirection() {
    Token operator = take();
    if (current.kind() != Kind.WORD) {
      throw unexpected();
    }
    int usual = operator.text().startsWith("<") ? 0 : 1;
    String kind = operator.text().equals(">|") ? ">" : operator.text();
    return new Redirection(operator.number() < 0 ? usual : operator.number(), kind, take().word());
  }

  private Ast simple() {
    List<Assignment> assignments = new ArrayList<>();
    List<Word> words = new ArrayList<>();
    List<Redirection> redirections = new ArrayList<>();
    while (current.kind() == Kind.WORD || isRedirection()) {
      if (isRedirection()) {
        redirections.add(redirection());
        continue;
      }
      Word word = take().word();
      Optional<Assignment> assignment = words.isEmpty() ? assignment(word) : Optional.empty();
      if (assignment.isPresent()) {
        assignments.add(assignment.get());
      } else {
        words.add(word);
      }
      if (words.size() == 1 && assignments.isEmpty() && current.is("(")) {
        return function(words.getFirst().plain());
      }
    }
    if (assignments.isEmpty() && words.isEmpty() && redirections.isEmpty()) {
      throw unexpected();
    }
    return new Ast.Simple(assignments, words, redirections);
  }

  private Ast function(String name) {
    take();
    if (name.isEmpty() || !current.is(")")) {
      throw unexpected();
    }
    take();
    skipNewlines();
    return new Ast.Function(name, command());
  }

  private static Optional<Assignment> assignment(Word word) {
    if (word.parts().isEmpty()
        || !(word.parts().getFirst() instanceof Literal(String text, boolean quoted))
        || quoted) {
      return Optional.empty();
    }
    Matcher matcher = ASSIGNMENT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    List<Part> value = new ArrayList<>();
    if (!matcher.group(2).isEmpty()) {
      value.add(new Literal(matcher.group(2), false));
    }
    value.addAll(word.parts().subList(1, word.parts().size()));
    return Optional.of(new Assignment(matcher.group(1), new Word(value)));
  }
}
