package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a JSON value, used both to validate requests and to describe them in the OpenAPI
 * document.
 */
public sealed interface Shape {

  /** Returns the OpenAPI 3.1 schema. */
  Map<String, Object> schema();

  /** Adds a violation for each defect of {@code value}. */
  void check(String field, @Nullable Object value, List<Violation> problems);

  /** A string. */
  record Text(int longest, String format) implements Shape {
    @Override
    public Map<String, Object> schema() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "string"));
      schema.put("maxLength", longest);
      if (!format.isEmpty()) {
        schema.put("format", format);
      }
      return schema;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof String text)) {
        problems.add(new Violation(field, "must be a string, not " + kind(value)));
      } else if (text.length() > longest) {
        problems.add(new Violation(field, "is longer than " + longest + " characters"));
      } else if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        problems.add(new Violation(field, "contains a lone surrogate"));
      } else if (text.indexOf('\0') >= 0) {
        problems.add(new Violation(field, "contains a NUL character"));
      }
    }
  }

  /** A non-empty string. */
  record NonEmptyText(int longest) implements Shape {
    @Override
    public Map<String, Object> schema() {
      Map<String, Object> schema = new LinkedHashMap<>(new Text(longest, "").schema());
      schema.put("minLength", 1);
      return schema;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      new Text(longest, "").check(field, value, problems);
      if (value instanceof String text && text.isEmpty()) {
        problems.add(new Violation(field, "must not be empty"));
      }
    }
  }

  /** Bytes: a string, or {@code {"base64": "..."}}. */
  record Content(int longest) implements Shape {
    @Override
    public Map<String, Object> schema() {
      return Map.of(
          "oneOf",
          List.of(
              new Text(longest, "").schema(),
              new Obj(Field.required("base64", new Text(longest, "byte"), "bytes")).schema()));
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (value instanceof String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
          problems.add(new Violation(field, "contains a lone surrogate"));
        }
      } else if (value instanceof Map<?, ?>) {
        new Obj(Field.required("base64", new Text(longest, "byte"), "bytes"))
            .check(field, value, problems);
      } else {
        problems.add(
            new Violation(field, "must be a string or {\"base64\": ...}, not " + kind(value)));
      }
    }
  }

  /** An integer in a range. */
  record WholeNumber(long least, long most) implements Shape {
    @Override
    public Map<String, Object> schema() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "integer"));
      schema.put("minimum", least);
      schema.put("maximum", most);
      return schema;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Integer || value instanceof Long)) {
        problems.add(new Violation(field, "must be an integer, not " + kind(value)));
      } else {
        long number = ((Number) value).longValue();
        if (number < least || number > most) {
          problems.add(new Violation(field, "must be from " + least + " to " + most));
        }
      }
    }
  }

  /** A number; used in responses only. */
  record Decimal() implements Shape {
    @Override
    public Map<String, Object> schema() {
      return Map.of("type", "number");
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Number)) {
        problems.add(new Violation(field, "must be a number, not " + kind(value)));
      }
    }
  }

  record Flag() implements Shape {
    @Override
    public Map<String, Object> schema() {
      return Map.of("type", "boolean");
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Boolean)) {
        problems.add(new Violation(field, "must be true or false, not " + kind(value)));
      }
    }
  }

  /** One of several strings. */
  record Choice(List<String> words) implements Shape {
    public Choice {
      words = List.copyOf(words);
    }

    @Override
    public Map<String, Object> schema() {
      return Map.of("type", "string", "enum", words);
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof String text) || !words.contains(text)) {
        problems.add(new Violation(field, "must be one of " + String.join(", ", words)));
      }
    }
  }

  record ListOf(Shape of, int most) implements Shape {
    @Override
    public Map<String, Object> schema() {
      return Map.of("type", "array", "items", of.schema(), "maxItems", most);
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof List<?> list)) {
        problems.add(new Violation(field, "must be a list, not " + kind(value)));
        return;
      }
      if (list.size() > most) {
        problems.add(new Violation(field, "has more than " + most + " elements"));
      }
      for (int i = 0; i < list.size(); i++) {
        of.check(field + "[" + i + "]", list.get(i), problems);
      }
    }
  }

  /** An object whose values all have one shape. */
  record MapOf(Shape of) implements Shape {
    @Override
    public Map<String, Object> schema() {
      return Map.of("type", "object", "additionalProperties", of.schema());
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Map<?, ?> map)) {
        problems.add(new Violation(field, "must be an object, not " + kind(value)));
        return;
      }
      map.forEach(
          (name, each) -> {
            new Text(4096, "").check(field + " (a name)", name, problems);
            of.check(field + "." + name, each, problems);
          });
    }
  }

  /** An object with these fields and no others. A null field counts as absent. */
  record Obj(List<Field> fields) implements Shape {
    public Obj(Field... fields) {
      this(List.of(fields));
    }

    /** Returns a copy with further fields. */
    public Obj and(Field... more) {
      List<Field> all = new ArrayList<>(fields);
      all.addAll(List.of(more));
      return new Obj(all);
    }

    @Override
    public Map<String, Object> schema() {
      Map<String, Object> properties = new LinkedHashMap<>();
      List<String> required = new ArrayList<>();
      for (Field field : fields) {
        Map<String, Object> schema = new LinkedHashMap<>(field.shape().schema());
        schema.put("description", field.summary());
        properties.put(field.name(), schema);
        if (field.required()) {
          required.add(field.name());
        }
      }
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "object"));
      schema.put("properties", properties);
      if (!required.isEmpty()) {
        schema.put("required", required);
      }
      schema.put("additionalProperties", false);
      return schema;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Map<?, ?> map)) {
        problems.add(
            new Violation(
                field.isEmpty() ? "the body" : field, "must be an object, not " + kind(value)));
        return;
      }
      String prefix = field.isEmpty() ? "" : field + ".";
      for (Field each : fields) {
        Object fieldValue = map.get(each.name());
        if (fieldValue != null) {
          each.shape().check(prefix + each.name(), fieldValue, problems);
        } else if (each.required()) {
          problems.add(new Violation(prefix + each.name(), "is missing"));
        }
      }
      List<String> names = fields.stream().map(Field::name).toList();
      for (Object name : map.keySet()) {
        if (!names.contains(String.valueOf(name))) {
          problems.add(UnknownName.violation(prefix, String.valueOf(name), names));
        }
      }
    }
  }

  /**
   * An object that is validated elsewhere.
   *
   * @param schema its OpenAPI schema
   */
  record Document(Map<String, Object> schema) implements Shape {
    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Map<?, ?>)) {
        problems.add(
            new Violation(
                field.isEmpty() ? "the body" : field, "must be an object, not " + kind(value)));
      }
    }
  }

  /** A field of an {@link Obj}. */
  record Field(String name, Shape shape, boolean required, String summary) {
    public static Field required(String name, Shape shape, String summary) {
      return new Field(name, shape, true, summary);
    }

    public static Field optional(String name, Shape shape, String summary) {
      return new Field(name, shape, false, summary);
    }
  }

  private static String kind(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case String _ -> "a string";
      case Boolean _ -> "a boolean";
      case Number _ -> "a number";
      case List<?> _ -> "a list";
      case Map<?, ?> _ -> "an object";
      default -> "another type";
    };
  }
}
