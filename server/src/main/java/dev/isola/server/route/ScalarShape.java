package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A string, a number or a boolean. */
public record ScalarShape() implements Shape {
  @Override
  public Map<String, Object> definition() {
    return Map.of("type", List.of("string", "number", "boolean"));
  }

  @Override
  public Object example() {
    return "text";
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    if (!(value instanceof String || value instanceof Number || value instanceof Boolean)) {
      problems.add(new Violation(field, "must be a string, not " + JsonKind.of(value)));
    }
  }
}
