package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A value of one of several shapes, which differ in their JSON type. */
public record OneOfShape(String name, List<Shape> choices) implements Shape {
  public OneOfShape {
    choices = List.copyOf(choices);
  }

  @Override
  public Optional<String> component() {
    return Optional.of(name);
  }

  @Override
  public List<Shape> parts() {
    return choices;
  }

  @Override
  public Map<String, Object> definition() {
    return Map.of("oneOf", choices.stream().map(Shape::schema).toList());
  }

  @Override
  public Object example() {
    return choices.getFirst().example();
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    Shape choice =
        choices.stream()
            .filter(one -> JsonKind.of(one.example()).equals(JsonKind.of(value)))
            .findFirst()
            .orElse(choices.getFirst());
    choice.check(field, value, problems);
  }
}
