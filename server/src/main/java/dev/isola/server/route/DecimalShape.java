package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A number in a range.
 *
 * @param exclusive whether the number must be greater than {@code least}
 */
public record DecimalShape(double least, boolean exclusive, double most) implements Shape {
  public DecimalShape(double least, double most) {
    this(least, false, most);
  }

  @Override
  public Map<String, Object> definition() {
    Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "number"));
    schema.put("format", "double");
    schema.put(exclusive ? "exclusiveMinimum" : "minimum", least);
    if (most < Double.MAX_VALUE) {
      schema.put("maximum", most);
    }
    return schema;
  }

  @Override
  public Object example() {
    return Math.clamp(1.0, least, most);
  }

  @Override
  public void check(String field, @Nullable Object value, List<Violation> problems) {
    if (!(value instanceof Number number)) {
      problems.add(new Violation(field, "must be a number, not " + JsonKind.of(value)));
    } else if (number.doubleValue() < least
        || number.doubleValue() > most
        || (exclusive && number.doubleValue() == least)) {
      problems.add(
          new Violation(
              field, "must be " + (exclusive ? "more than " : "from ") + least + " to " + most));
    }
  }
}
