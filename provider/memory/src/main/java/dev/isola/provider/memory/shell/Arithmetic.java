package dev.isola.provider.memory.shell;

import java.util.List;
import java.util.function.Function;

/** Computes what stands in <code>$((...))</code>. */
final class Arithmetic {
  /** From the weakest to the strongest. */
  private static final List<List<String>> LEVELS =
      List.of(
          List.of("||"),
          List.of("&&"),
          List.of("==", "!="),
          List.of("<=", ">=", "<", ">"),
          List.of("+", "-"),
          List.of("*", "/", "%"));

  private final String text;
  private final Function<String, String> variables;
  private int at;

  private Arithmetic(String text, Function<String, String> variables) {
    this.text = text;
    this.variables = variables;
  }

  static long compute(String text, Function<String, String> variables) {
    Arithmetic arithmetic = new Arithmetic(text, variables);
    long value = arithmetic.level(0);
    arithmetic.skip();
    if (arithmetic.at < text.length()) {
      throw arithmetic.wrong();
    }
    return value;
  }

  private SyntaxError wrong() {
    return new SyntaxError("arithmetic expression: \"" + text + "\"", false);
  }

  private void skip() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private long level(int level) {
    if (level == LEVELS.size()) {
      return unary();
    }
    long value = level(level + 1);
    while (true) {
      skip();
      String operator = operator(LEVELS.get(level));
      if (operator.isEmpty()) {
        return value;
      }
      at += operator.length();
      value = apply(operator, value, level(level + 1));
    }
  }

  private String operator(List<String> operators) {
    for (String operator : operators) {
      if (text.startsWith(operator, at)) {
        return operator;
      }
    }
    return "";
  }

  private long apply(String operator, long left, long right) {
    return switch (operator) {
      case "||" -> left != 0 || right != 0 ? 1 : 0;
      case "&&" -> left != 0 && right != 0 ? 1 : 0;
      case "==" -> left == right ? 1 : 0;
      case "!=" -> left != right ? 1 : 0;
      case "<=" -> left <= right ? 1 : 0;
      case ">=" -> left >= right ? 1 : 0;
      case "<" -> left < right ? 1 : 0;
      case ">" -> left > right ? 1 : 0;
      case "+" -> left + right;
      case "-" -> left - right;
      case "*" -> left * right;
      case "/" -> left / nonZero(right);
      case "%" -> left % nonZero(right);
      default -> throw wrong();
    };
  }

  private long nonZero(long divisor) {
    if (divisor == 0) {
      throw new SyntaxError("arithmetic expression: division by zero", false);
    }
    return divisor;
  }

  private long unary() {
    skip();
    if (at >= text.length()) {
      throw wrong();
    }
    return switch (text.charAt(at)) {
      case '-' -> -next();
      case '+' -> next();
      case '!' -> next() == 0 ? 1 : 0;
      case '(' -> inBrackets();
      default -> operand();
    };
  }

  private long next() {
    at++;
    return unary();
  }

  private long inBrackets() {
    at++;
    long value = level(0);
    skip();
    if (!text.startsWith(")", at)) {
      throw wrong();
    }
    at++;
    return value;
  }

  private long operand() {
    int from = at;
    while (at < text.length()
        && (Character.isLetterOrDigit(text.charAt(at)) || "_$".indexOf(text.charAt(at)) >= 0)) {
      at++;
    }
    String word = text.substring(from, at);
    if (word.isEmpty()) {
      throw wrong();
    }
    String value =
        Character.isDigit(word.charAt(0)) ? word : variables.apply(word.replace("$", ""));
    try {
      return value.isBlank() ? 0 : Long.decode(value.strip());
    } catch (NumberFormatException e) {
      throw wrong();
    }
  }
}
