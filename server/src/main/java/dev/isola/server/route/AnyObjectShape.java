package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An object with any fields. */
public record AnyObjectShape() implements Shape {
  @Override
  public Map<String, Object> definition() {
    return Map.of("type", "object");
  }

  @Override
  public Object example() {
    return Map.of();
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    if (!(value instanceof Map<?, ?>)) {
      problems.add(
          new Violation(
              field.isEmpty() ? "the body" : field,
              "must be an object, not " + JsonKind.of(value)));
    }
  }
}
