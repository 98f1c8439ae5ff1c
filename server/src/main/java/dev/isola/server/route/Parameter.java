package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.List;

/**
 * A parameter of a route.
 *
 * @param where its location
 * @param repeatable whether a query may contain it several times
 */
public record Parameter(
    String name, Where where, Shape shape, boolean required, boolean repeatable, String summary) {

  /** The location of a parameter. */
  public enum Where {
    PATH,
    QUERY,
    HEADER
  }

  public static Parameter path(String name, Shape shape, String summary) {
    return new Parameter(name, Where.PATH, shape, true, false, summary);
  }

  public static Parameter query(String name, Shape shape, String summary) {
    return new Parameter(name, Where.QUERY, shape, false, false, summary);
  }

  public static Parameter header(String name, Shape shape, String summary) {
    return new Parameter(name, Where.HEADER, shape, false, false, summary);
  }

  public Parameter asRequired() {
    return new Parameter(name, where, shape, true, repeatable, summary);
  }

  public Parameter asRepeatable() {
    return new Parameter(name, where, shape, required, true, summary);
  }

  /** Validates a value. Numbers and booleans are written as in JSON. */
  void check(String text, List<Violation> problems) {
    shape.check(name, value(text), problems);
  }

  private Object value(String text) {
    return switch (shape) {
      case Shape.WholeNumber _ when text.matches("-?[0-9]{1,19}") -> number(text);
      case Shape.Flag _ when text.equals("true") || text.equals("false") -> text.equals("true");
      default -> text;
    };
  }

  /** Returns a number, or the text if it exceeds the range. */
  private static Object number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException tooLarge) {
      return text;
    }
  }
}
