package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Bytes: a string, or {@code {"base64": "..."}}. */
public record ContentShape() implements Shape {
  private static final Shape.Obj BYTES =
      new Shape.Obj(Shape.Field.required("base64", new Shape.Text(8 << 20, "byte"), "bytes"))
          .named("Base64Content");

  @Override
  public Optional<String> component() {
    return Optional.of("Content");
  }

  @Override
  public List<Shape> parts() {
    return List.of(BYTES);
  }

  @Override
  public Map<String, Object> definition() {
    return Map.of(
        "oneOf",
        List.of(Map.of("type", "string"), BYTES.schema()),
        "description",
        "bytes: a string, which is encoded in UTF-8, or an object with base64");
  }

  @Override
  public Object example() {
    return "hello\n";
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    if (value instanceof String text) {
      if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        problems.add(new Violation(field, "contains a lone surrogate"));
      }
    } else if (value instanceof Map<?, ?>) {
      BYTES.check(field, value, problems);
    } else {
      problems.add(
          new Violation(field, "must be a string or {\"base64\": ...}, not " + JsonKind.of(value)));
    }
  }
}
