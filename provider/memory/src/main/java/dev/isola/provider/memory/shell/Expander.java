package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.file.Glob;
import dev.isola.provider.memory.shell.Word.Part;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Turns words as written into words as used. */
final class Expander {
  private static final String SPACES = " \t\n";

  private final Shell shell;

  Expander(Shell shell) {
    this.shell = shell;
  }

  /**
   * What is being put together: its text, and the same as a pattern with quoted characters made
   * literal.
   */
  private static final class Fields {
    final List<String> texts = new ArrayList<>();
    final List<String> patterns = new ArrayList<>();
    final StringBuilder text = new StringBuilder();
    final StringBuilder pattern = new StringBuilder();
    boolean started;
    boolean magic;

    void add(String some, boolean quoted) {
      started |= quoted || !some.isEmpty();
      text.append(some);
      for (int i = 0; i < some.length(); i++) {
        boolean special = "*?[".indexOf(some.charAt(i)) >= 0;
        magic |= special && !quoted;
        pattern.append(special && quoted ? "[" + some.charAt(i) + "]" : some.substring(i, i + 1));
      }
    }

    void end() {
      if (started) {
        texts.add(text.toString());
        patterns.add(magic ? pattern.toString() : "");
      }
      text.setLength(0);
      pattern.setLength(0);
      started = false;
      magic = false;
    }
  }

  List<String> all(List<Word> words) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>();
    for (Word word : words) {
      all.addAll(fields(word));
    }
    return all;
  }

  private List<String> fields(Word word) throws IOException, InterruptedException {
    Fields fields = new Fields();
    for (Part part : word.parts()) {
      if (part instanceof Word.Variable variable
          && variable.name().equals("@")
          && variable.operator().isEmpty()) {
        addArguments(fields, variable.quoted());
      } else {
        add(fields, part);
      }
    }
    fields.end();
    List<String> result = new ArrayList<>();
    for (int i = 0; i < fields.texts.size(); i++) {
      List<String> matched =
          fields.patterns.get(i).isEmpty() ? List.of() : matches(fields.patterns.get(i));
      result.addAll(matched.isEmpty() ? List.of(fields.texts.get(i)) : matched);
    }
    return result;
  }

  private void addArguments(Fields fields, boolean quoted) {
    List<String> arguments = shell.arguments();
    for (int i = 0; i < arguments.size(); i++) {
      if (i > 0) {
        fields.end();
      }
      fields.add(arguments.get(i), quoted);
    }
  }

  private void add(Fields fields, Part part) throws IOException, InterruptedException {
    String value = value(part);
    if (part instanceof Word.Literal || part.quoted()) {
      fields.add(value, part.quoted());
      return;
    }
    for (int i = 0; i < value.length(); i++) {
      if (SPACES.indexOf(value.charAt(i)) >= 0) {
        fields.end();
      } else {
        fields.add(value.substring(i, i + 1), false);
      }
    }
  }

  /** Returns a word without splitting it. */
  String one(Word word) throws IOException, InterruptedException {
    StringBuilder text = new StringBuilder();
    for (Part part : word.parts()) {
      text.append(value(part));
    }
    return text.toString();
  }

  /** Returns a word as a pattern: what is quoted stands for itself. */
  String pattern(Word word) throws IOException, InterruptedException {
    Fields fields = new Fields();
    for (Part part : word.parts()) {
      fields.add(value(part), part.quoted());
    }
    return fields.pattern.toString();
  }

  private String value(Part part) throws IOException, InterruptedException {
    return switch (part) {
      case Word.Literal literal -> literal.text();
      case Word.Substitution substitution -> shell.capture(substitution.text());
      case Word.Sum sum ->
          Long.toString(Arithmetic.compute(one(Lexer.wholeWord(sum.text())), shell::variable));
      case Word.Variable variable -> value(variable);
    };
  }

  private String value(Word.Variable variable) throws IOException, InterruptedException {
    String value = shell.variable(variable.name());
    boolean absent =
        variable.operator().startsWith(":") ? value.isEmpty() : !shell.isSet(variable.name());
    return switch (variable.operator()) {
      case "" -> value;
      case "#" ->
          variable.argument().parts().isEmpty()
              ? Integer.toString(value.length())
              : cutStart(value, variable, false);
      case "##" -> cutStart(value, variable, true);
      case "%" -> cutEnd(value, variable, false);
      case "%%" -> cutEnd(value, variable, true);
      case ":-", "-" -> absent ? one(variable.argument()) : value;
      case ":+", "+" -> absent ? "" : one(variable.argument());
      case ":=", "=" -> absent ? shell.assign(variable.name(), one(variable.argument())) : value;
      default -> {
        if (absent) {
          throw new IOException(variable.name() + ": " + one(variable.argument()));
        }
        yield value;
      }
    };
  }

  private String cutStart(String value, Word.Variable variable, boolean longest)
      throws IOException, InterruptedException {
    Glob glob = Glob.ofText(pattern(variable.argument()));
    for (int i = 0; i <= value.length(); i++) {
      int end = longest ? value.length() - i : i;
      if (glob.matches(value.substring(0, end))) {
        return value.substring(end);
      }
    }
    return value;
  }

  private String cutEnd(String value, Word.Variable variable, boolean longest)
      throws IOException, InterruptedException {
    Glob glob = Glob.ofText(pattern(variable.argument()));
    for (int i = 0; i <= value.length(); i++) {
      int from = longest ? i : value.length() - i;
      if (glob.matches(value.substring(from))) {
        return value.substring(0, from);
      }
    }
    return value;
  }

  private List<String> matches(String pattern) {
    return new FileMatches(shell.proc()).of(pattern);
  }
}
