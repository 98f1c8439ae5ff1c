package dev.isola.server.route;

import dev.isola.spi.spec.Violation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a JSON value, used both to validate requests and to describe them in the OpenAPI
 * document. No value may be null: an optional field is left out.
 */
public sealed interface Shape
    permits Shape.Text,
        Shape.NonEmptyText,
        Shape.WholeNumber,
        Shape.Flag,
        Shape.Choice,
        Shape.ListOf,
        Shape.MapOf,
        Shape.Obj,
        MatchingText,
        DecimalShape,
        ScalarShape,
        OneOfShape,
        ContentShape,
        AnyObjectShape,
        DocumentShape {
  /** The violation of a field that is null. */
  String NOT_NULL = "must not be null; leave the field out";

  /** Returns the OpenAPI 3.1 schema, without the name of the shape. */
  Map<String, Object> definition();

  /** Adds a violation for each defect of {@code value}. */
  void check(String field, @Nullable Object value, List<Violation> problems);

  /** Returns a value without defects. */
  Object example();

  /** Returns the name of the schema among the components of the document; empty for none. */
  default Optional<String> component() {
    return Optional.empty();
  }

  /** Returns the shapes that this one contains. */
  default List<Shape> parts() {
    return List.of();
  }

  /** Returns the schema, or a reference to the component if the shape has a name. */
  default Map<String, Object> schema() {
    return component()
        .<Map<String, Object>>map(name -> Map.of("$ref", "#/components/schemas/" + name))
        .orElseGet(this::definition);
  }

  /** A string. */
  record Text(int longest, String format) implements Shape {
    @Override
    public Map<String, Object> definition() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "string"));
      schema.put("maxLength", longest);
      if (!format.isEmpty()) {
        schema.put("format", format);
      }
      return schema;
    }

    @Override
    public Object example() {
      return switch (format) {
        case "date-time" -> "2026-01-31T12:00:00Z";
        case "byte" -> "aGVsbG8K";
        default -> "text";
      };
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof String text)) {
        problems.add(new Violation(field, "must be a string, not " + JsonKind.of(value)));
      } else if (text.length() > longest && text.codePointCount(0, text.length()) > longest) {
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
    public Map<String, Object> definition() {
      Map<String, Object> schema = new LinkedHashMap<>(new Text(longest, "").definition());
      schema.put("minLength", 1);
      return schema;
    }

    @Override
    public Object example() {
      return "name";
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      new Text(longest, "").check(field, value, problems);
      if (value instanceof String text && text.isEmpty()) {
        problems.add(new Violation(field, "must not be empty"));
      }
    }
  }

  /** An integer in a range. */
  record WholeNumber(long least, long most) implements Shape {
    @Override
    public Map<String, Object> definition() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "integer"));
      boolean small = least >= Integer.MIN_VALUE && most <= Integer.MAX_VALUE;
      schema.put("format", small ? "int32" : "int64");
      schema.put("minimum", least);
      schema.put("maximum", most);
      return schema;
    }

    @Override
    public Object example() {
      return Math.clamp(1L, least, most);
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Integer || value instanceof Long)) {
        problems.add(new Violation(field, "must be an integer, not " + JsonKind.of(value)));
      } else {
        long number = ((Number) value).longValue();
        if (number < least || number > most) {
          problems.add(new Violation(field, "must be from " + least + " to " + most));
        }
      }
    }
  }

  record Flag() implements Shape {
    @Override
    public Map<String, Object> definition() {
      return Map.of("type", "boolean");
    }

    @Override
    public Object example() {
      return false;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Boolean)) {
        problems.add(new Violation(field, "must be true or false, not " + JsonKind.of(value)));
      }
    }
  }

  /**
   * One of several strings.
   *
   * @param name the name of the schema; empty for none
   */
  record Choice(String name, List<String> words) implements Shape {
    public Choice {
      words = List.copyOf(words);
    }

    public Choice(List<String> words) {
      this("", words);
    }

    @Override
    public Optional<String> component() {
      return Optional.of(name).filter(text -> !text.isEmpty());
    }

    @Override
    public Map<String, Object> definition() {
      return Map.of("type", "string", "enum", words);
    }

    @Override
    public Object example() {
      return words.getFirst();
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
    public List<Shape> parts() {
      return List.of(of);
    }

    @Override
    public Map<String, Object> definition() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "array"));
      schema.put("items", of.schema());
      if (most < Integer.MAX_VALUE) {
        schema.put("maxItems", most);
      }
      return schema;
    }

    @Override
    public Object example() {
      return List.of(of.example());
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof List<?> list)) {
        problems.add(new Violation(field, "must be a list, not " + JsonKind.of(value)));
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

  /**
   * An object whose values all have one shape.
   *
   * @param names the shape of its names
   */
  record MapOf(Shape of, Shape names) implements Shape {
    public MapOf(Shape of) {
      this(of, new Text(4096, ""));
    }

    @Override
    public List<Shape> parts() {
      return List.of(of);
    }

    @Override
    public Map<String, Object> definition() {
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "object"));
      schema.put("additionalProperties", of.schema());
      Map<String, Object> rules = new LinkedHashMap<>(names.definition());
      rules.remove("type"); // a name is always a string
      schema.put("propertyNames", rules);
      return schema;
    }

    @Override
    public Object example() {
      return Map.of();
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Map<?, ?> map)) {
        problems.add(new Violation(field, "must be an object, not " + JsonKind.of(value)));
        return;
      }
      map.forEach(
          (name, each) -> {
            names.check(field + " (a name)", name, problems);
            of.check(field + "." + name, each, problems);
          });
    }
  }

  /**
   * An object with these fields and no others.
   *
   * @param name the name of the schema; empty for none
   */
  record Obj(String name, List<Field> fields) implements Shape {
    public Obj(Field... fields) {
      this("", List.of(fields));
    }

    /** Returns a copy whose schema has a name. */
    public Obj named(String newName) {
      return new Obj(newName, fields);
    }

    /** Returns a copy with further fields and without a name. */
    public Obj and(Field... more) {
      List<Field> all = new ArrayList<>(fields);
      all.addAll(List.of(more));
      return new Obj("", all);
    }

    @Override
    public Optional<String> component() {
      return Optional.of(name).filter(text -> !text.isEmpty());
    }

    @Override
    public List<Shape> parts() {
      return fields.stream().map(Field::shape).toList();
    }

    @Override
    public Map<String, Object> definition() {
      Map<String, Object> properties = new LinkedHashMap<>();
      fields.forEach(field -> properties.put(field.name(), field.schema()));
      List<String> required = fields.stream().filter(Field::required).map(Field::name).toList();
      Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "object"));
      schema.put("properties", properties);
      if (!required.isEmpty()) {
        schema.put("required", required);
      }
      schema.put("additionalProperties", false);
      return schema;
    }

    /** Returns an object with the required fields and those that have an example of their own. */
    @Override
    public Object example() {
      Map<String, Object> example = new LinkedHashMap<>();
      for (Field field : fields) {
        if (field.required() || field.example().isPresent()) {
          example.put(field.name(), field.example().orElseGet(field.shape()::example));
        }
      }
      return example;
    }

    @Override
    public void check(String field, @Nullable Object value, List<Violation> problems) {
      if (!(value instanceof Map<?, ?> map)) {
        problems.add(
            new Violation(
                field.isEmpty() ? "the body" : field,
                "must be an object, not " + JsonKind.of(value)));
        return;
      }
      String prefix = field.isEmpty() ? "" : field + ".";
      for (Field each : fields) {
        Object fieldValue = map.get(each.name());
        if (fieldValue != null) {
          each.shape().check(prefix + each.name(), fieldValue, problems);
        } else if (map.containsKey(each.name())) {
          problems.add(new Violation(prefix + each.name(), NOT_NULL));
        } else if (each.required()) {
          problems.add(new Violation(prefix + each.name(), "is missing"));
        }
      }
      List<String> names = fields.stream().map(Field::name).toList();
      for (Object name : map.keySet()) {
        if (!names.contains(String.valueOf(name))) {
          UnknownName.report(prefix, String.valueOf(name), names, problems);
        }
      }
    }
  }

  /**
   * A field of an {@link Obj}.
   *
   * @param example the value in the example of the object; empty for that of the shape
   * @param deprecated whether another field should be used
   * @param secret whether responses never have the value
   */
  record Field(
      String name,
      Shape shape,
      boolean required,
      String summary,
      Optional<Object> example,
      boolean deprecated,
      boolean secret) {
    public static Field required(String name, Shape shape, String summary) {
      return new Field(name, shape, true, summary, Optional.empty(), false, false);
    }

    public static Field optional(String name, Shape shape, String summary) {
      return new Field(name, shape, false, summary, Optional.empty(), false, false);
    }

    /** Returns a copy with an example. */
    public Field example(Object value) {
      return new Field(name, shape, required, summary, Optional.of(value), deprecated, secret);
    }

    /** Returns an optional field that clients should not use any more. */
    public static Field deprecated(String name, Shape shape, String summary) {
      return new Field(name, shape, false, summary, Optional.empty(), true, false);
    }

    Map<String, Object> schema() {
      Map<String, Object> schema = new LinkedHashMap<>(shape.schema());
      schema.put("description", summary);
      if (deprecated) {
        schema.put("deprecated", true);
      }
      if (secret) {
        schema.put("writeOnly", true);
      }
      return schema;
    }
  }
}
