package dev.isola.app.generated;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The schemas of an OpenAPI document. */
record Schemas(Map<String, Map<String, Object>> byName) {
  private static final String REFERENCE = "#/components/schemas/";

  static Schemas of(@Nullable Object openApi) {
    Map<String, Object> document = object(openApi);
    Map<String, Map<String, Object>> schemas = new LinkedHashMap<>();
    object(object(document.get("components")).get("schemas"))
        .forEach((name, schema) -> schemas.put(name, object(schema)));
    return new Schemas(schemas);
  }

  static Map<String, Object> object(@Nullable Object value) {
    if (!(value instanceof Map<?, ?> members)) {
      throw new IllegalArgumentException("not an object: " + value);
    }
    Map<String, Object> object = new LinkedHashMap<>();
    members.forEach((name, one) -> object.put(String.valueOf(name), one));
    return object;
  }

  Map<String, Object> named(String name) {
    return Objects.requireNonNull(byName.get(name), name);
  }

  /** Returns the schema that a reference refers to, or the schema itself. */
  Map<String, Object> resolve(Map<String, Object> schema) {
    return schema.get("$ref") instanceof String reference
        ? resolve(named(reference.substring(REFERENCE.length())))
        : schema;
  }

  /** Returns the fields of an object that clients should use, by name. */
  Map<String, Map<String, Object>> fields(Map<String, Object> schema) {
    Map<String, Map<String, Object>> fields = new LinkedHashMap<>();
    if (resolve(schema).get("properties") instanceof Map<?, ?> properties) {
      object(properties).forEach((name, field) -> fields.put(name, object(field)));
    }
    fields.values().removeIf(field -> Boolean.TRUE.equals(field.get("deprecated")));
    return fields;
  }

  /** Returns the schemas of which a value has one; the schema itself if it is the only one. */
  List<Map<String, Object>> alternatives(Map<String, Object> schema) {
    Map<String, Object> resolved = resolve(schema);
    return resolved.get("oneOf") instanceof List<?> choices
        ? choices.stream().map(one -> resolve(object(one))).toList()
        : List.of(resolved);
  }

  /** Describes the values of a schema in words. */
  String words(Map<String, Object> schema) {
    return alternatives(schema).stream().map(this::word).collect(Collectors.joining(" or "));
  }

  private String word(Map<String, Object> schema) {
    if (schema.get("enum") instanceof List<?> values) {
      return values.stream().map(value -> "`" + value + "`").collect(Collectors.joining(", "));
    }
    return switch (String.valueOf(schema.get("type"))) {
      case "array" -> "list of " + words(object(schema.get("items")));
      case "object" ->
          schema.get("additionalProperties") instanceof Map<?, ?> values
              ? "object, by name: " + words(object(values))
              : "object";
      case "integer", "number" -> schema.get("type") + range(schema);
      case "boolean" -> "`true`, `false`";
      default -> String.valueOf(schema.get("type"));
    };
  }

  private static String range(Map<String, Object> schema) {
    Object least = schema.getOrDefault("minimum", schema.get("exclusiveMinimum"));
    Object most = schema.get("maximum");
    return least == null || most == null
        ? ""
        : (schema.containsKey("minimum") ? " from " : " above ")
            + plain(least)
            + " to "
            + plain(most);
  }

  private static String plain(Object number) {
    return new BigDecimal(number.toString()).stripTrailingZeros().toPlainString();
  }
}
