package dev.isola.server;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Validates values against schemas of the OpenAPI document. It knows the keywords that the document
 * uses and rejects others, so that no keyword is ignored.
 *
 * @param document the OpenAPI document, in which references are resolved
 */
record JsonSchema(Map<String, Object> document) {
  private static final Set<String> KEYWORDS =
      Set.of(
          "$ref",
          "type",
          "format",
          "enum",
          "oneOf",
          "properties",
          "required",
          "additionalProperties",
          "propertyNames",
          "items",
          "maxItems",
          "minimum",
          "exclusiveMinimum",
          "maximum",
          "minLength",
          "maxLength",
          "pattern",
          "description",
          "deprecated");

  /** Returns the schema that a reference stands for. */
  Map<?, ?> resolve(Map<?, ?> schema) {
    Map<?, ?> found = schema;
    while (found.get("$ref") instanceof String reference) {
      Object target = document;
      for (String part : List.of(reference.substring(2).split("/"))) {
        target = RequestFuzzer.map(target).get(part);
      }
      if (!(target instanceof Map<?, ?> map)) {
        throw new AssertionError("the document has no " + reference);
      }
      found = map;
    }
    return found;
  }

  /** Returns what is wrong with a value; empty if it is valid. */
  List<String> defects(Map<?, ?> schema, @Nullable Object value) {
    List<String> defects = new ArrayList<>();
    check("$", schema, value, defects);
    return defects;
  }

  private void check(String at, Map<?, ?> named, @Nullable Object value, List<String> defects) {
    Map<?, ?> schema = resolve(named);
    Set<Object> unknown = new LinkedHashSet<>(schema.keySet());
    unknown.removeAll(KEYWORDS);
    if (!unknown.isEmpty()) {
      throw new AssertionError("unknown keywords " + unknown + " at " + at);
    }
    if (schema.get("oneOf") instanceof List<?> choices) {
      long valid =
          choices.stream().filter(one -> defects(RequestFuzzer.map(one), value).isEmpty()).count();
      require(valid == 1, at, "matches " + valid + " of oneOf: " + value, defects);
    }
    if (schema.get("enum") instanceof List<?> words) {
      require(words.contains(value), at, value + " is not one of " + words, defects);
    }
    List<?> types =
        schema.get("type") instanceof List<?> several
            ? several
            : schema.get("type") == null ? List.of() : List.of(schema.get("type"));
    boolean typed = types.isEmpty() || types.stream().anyMatch(type -> hasType(type, value));
    require(typed, at, value + " is not of type " + types, defects);
    switch (value) {
      case String text when typed -> text(at, schema, text, defects);
      case Number number when typed -> number(at, schema, number.doubleValue(), defects);
      case List<?> list when typed -> {
        require(list.size() <= limit(schema, "maxItems"), at, "has too many items", defects);
        for (int i = 0; i < list.size(); i++) {
          check(at + "[" + i + "]", RequestFuzzer.map(schema.get("items")), list.get(i), defects);
        }
      }
      case Map<?, ?> map when typed -> object(at, schema, map, defects);
      case null, default -> {}
    }
  }

  private static boolean hasType(Object type, @Nullable Object value) {
    return switch (String.valueOf(type)) {
      case "string" -> value instanceof String;
      case "integer" -> value instanceof Integer || value instanceof Long;
      case "number" -> value instanceof Number;
      case "boolean" -> value instanceof Boolean;
      case "array" -> value instanceof List;
      case "object" -> value instanceof Map;
      case "null" -> value == null;
      default -> throw new AssertionError("unknown type " + type);
    };
  }

  private static void text(String at, Map<?, ?> schema, String text, List<String> defects) {
    int length = text.codePointCount(0, text.length());
    require(length <= limit(schema, "maxLength"), at, "is too long", defects);
    require(
        !(schema.get("minLength") instanceof Number least) || length >= least.intValue(),
        at,
        "is too short",
        defects);
    if (schema.get("pattern") instanceof String pattern) {
      require(Pattern.compile(pattern).matcher(text).find(), at, text + " /" + pattern, defects);
    }
    if ("date-time".equals(schema.get("format"))) {
      require(text.matches("[0-9-]{10}T[0-9:.]+Z"), at, text + " is not a time", defects);
    }
  }

  private static void number(String at, Map<?, ?> schema, double number, List<String> defects) {
    boolean above =
        !(schema.get("minimum") instanceof Number least) || number >= least.doubleValue();
    boolean more =
        !(schema.get("exclusiveMinimum") instanceof Number least) || number > least.doubleValue();
    boolean below = !(schema.get("maximum") instanceof Number most) || number <= most.doubleValue();
    require(above && more && below, at, number + " is out of range", defects);
  }

  private void object(String at, Map<?, ?> schema, Map<?, ?> map, List<String> defects) {
    Map<?, ?> properties = RequestFuzzer.map(schema.get("properties"));
    for (Object name : RequestFuzzer.list(schema.get("required"))) {
      require(map.containsKey(name), at, name + " is missing", defects);
    }
    map.forEach(
        (name, each) -> {
          String field = at + "." + name;
          if (properties.get(name) instanceof Map<?, ?> property) {
            check(field, property, each, defects);
          } else if (schema.get("additionalProperties") instanceof Map<?, ?> others) {
            check(field, others, each, defects);
          } else {
            require(
                !Boolean.FALSE.equals(schema.get("additionalProperties")),
                field,
                "is not declared",
                defects);
          }
          if (schema.get("propertyNames") instanceof Map<?, ?> names) {
            check(field + " (name)", names, name, defects);
          }
        });
  }

  private static long limit(Map<?, ?> schema, String keyword) {
    return schema.get(keyword) instanceof Number most ? most.longValue() : Long.MAX_VALUE;
  }

  private static void require(boolean ok, String at, String defect, List<String> defects) {
    if (!ok) {
      defects.add(at + ": " + defect);
    }
  }
}
