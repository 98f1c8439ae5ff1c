package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An object that a codec validates.
 *
 * @param described the shape that the OpenAPI document shows
 */
public record DocumentShape(Shape described) implements Shape {
  @Override
  public Optional<String> component() {
    return described.component();
  }

  @Override
  public List<Shape> parts() {
    return described.parts();
  }

  @Override
  public Map<String, Object> definition() {
    return described.definition();
  }

  @Override
  public Object example() {
    return described.example();
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    new AnyObjectShape().check(field, value, problems);
    if (value instanceof Map<?, ?>) {
      rejectNulls(field, value, problems);
    }
  }

  /** Rejects null at any depth, which the codec would read as absent. */
  private static void rejectNulls(String field, @Nullable Object value, List<Violation> problems) {
    switch (value) {
      case null -> problems.add(new Violation(field, Shape.NOT_NULL));
      case Map<?, ?> map -> {
        String prefix = field.isEmpty() ? "" : field + ".";
        map.forEach(
            (name, each) -> rejectNulls(prefix + UnknownName.shortened(name), each, problems));
      }
      case List<?> list -> {
        for (int i = 0; i < list.size(); i++) {
          rejectNulls(field + "[" + i + "]", list.get(i), problems);
        }
      }
      default -> {}
    }
  }
}
