package dev.isola.app.generated;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Writes the methods of the Java SDK that set fields of a create request. */
record JavaFields(Schemas schemas) {
  /** Fields that the builder sets by methods of its own. */
  private static final Set<String> BY_HAND =
      Set.of("resources", "network", "volumes", "strictNoFallback", "strict_no_fallback");

  private static final int MOST_COLUMNS = 100;

  private static final String HEAD =
      """
      // Generated from the OpenAPI document by GeneratedFilesTest in client/test. Do not edit.
      package dev.isola.client;

      import java.math.BigDecimal;
      import java.time.Duration;
      import java.util.Collection;
      import java.util.List;

      /** Sets the fields of a create request that need no method of their own. */
      public abstract sealed class CreateFields permits SandboxSpec.Builder {
        CreateFields() {}

        /** Sets a value in an object, or in objects within it, and keeps their other fields. */
        abstract SandboxSpec.Builder put(Object value, String... path);

        private static Number seconds(Duration time) {
          return time.getNano() == 0
              ? (Number) time.toSeconds()
              : BigDecimal.valueOf(time.getSeconds()).add(BigDecimal.valueOf(time.getNano(), 9));
        }
      """;

  String source() {
    StringBuilder source = new StringBuilder(HEAD);
    schemas
        .fields(schemas.named("CreateSandboxRequest"))
        .forEach(
            (name, field) -> {
              if (!BY_HAND.contains(name)) {
                method(List.of(name), field, source);
              }
            });
    return source.append("}\n").toString();
  }

  private void method(List<String> path, Map<String, Object> field, StringBuilder source) {
    Map<String, Object> schema = schemas.alternatives(field).getFirst();
    if (schema.containsKey("properties")) {
      schemas
          .fields(schema)
          .forEach(
              (name, inner) ->
                  method(Stream.concat(path.stream(), Stream.of(name)).toList(), inner, source));
      return;
    }
    String name = methodName(path);
    String last = path.getLast();
    switch (String.valueOf(schema.get("type"))) {
      case "string" -> add(name, "String value", "value", path, field, source);
      case "boolean" -> add(name, "boolean value", "value", path, field, source);
      case "integer", "number" -> number(name, last, schema, path, field, source);
      case "array" ->
          add(
              name,
              "Collection<" + boxed(Schemas.object(schema.get("items"))) + "> values",
              "List.copyOf(values)",
              path,
              field,
              source);
      case "object" ->
          add(singular(name), "String name, String value", "value", path, field, source);
      default -> throw new IllegalStateException(path + " has no method for " + schema);
    }
  }

  private static void number(
      String name,
      String last,
      Map<String, Object> schema,
      List<String> path,
      Map<String, Object> field,
      StringBuilder source) {
    boolean whole = "integer".equals(schema.get("type"));
    if (last.endsWith("Seconds")) {
      String seconds = whole ? "time.toSeconds()" : "seconds(time)";
      add(without(name, "Seconds"), "Duration time", seconds, path, field, source);
    } else if (last.endsWith("Ms")) {
      add(without(name, "Ms"), "Duration time", "time.toMillis()", path, field, source);
    } else {
      String type = whole ? ("int32".equals(schema.get("format")) ? "int" : "long") : "double";
      add(name, type + " value", "value", path, field, source);
    }
  }

  private static void add(
      String name,
      String parameters,
      String value,
      List<String> path,
      Map<String, Object> field,
      StringBuilder source) {
    StringBuilder names = new StringBuilder();
    path.forEach(one -> names.append(", \"").append(one).append('"'));
    if (parameters.startsWith("String name,")) {
      names.append(", name");
    }
    String text =
        String.valueOf(field.get("description")).replace("*/", "* /").replace("@", "&#64;");
    String comment =
        "Sets {@code " + String.join(".", path) + "}: " + text.replace("<", "&lt;") + ".";
    source
        .append('\n')
        .append(javadoc(comment))
        .append("  public SandboxSpec.Builder ")
        .append(name)
        .append('(')
        .append(parameters)
        .append(") {\n    return put(")
        .append(value)
        .append(names)
        .append(");\n  }\n");
  }

  /** Breaks lines where the formatter does. */
  private static String javadoc(String text) {
    String single = "  /** " + text + " */";
    if (single.length() <= MOST_COLUMNS) {
      return single + "\n";
    }
    StringBuilder lines = new StringBuilder("  /**\n");
    StringBuilder line = new StringBuilder("   *");
    for (String word : text.split(" ")) {
      if (line.length() + 1 + word.length() > MOST_COLUMNS) {
        lines.append(line).append('\n');
        line = new StringBuilder("   *");
      }
      line.append(' ').append(word);
    }
    return lines.append(line).append("\n   */\n").toString();
  }

  private String boxed(Map<String, Object> items) {
    Map<String, Object> schema = schemas.alternatives(items).getFirst();
    return switch (String.valueOf(schema.get("type"))) {
      case "string" -> "String";
      case "integer" -> "Integer";
      default -> throw new IllegalStateException("no method for a list of " + schema);
    };
  }

  private static String methodName(List<String> path) {
    StringBuilder name = new StringBuilder(path.getFirst());
    path.stream()
        .skip(1)
        .forEach(
            one ->
                name.append(one.substring(0, 1).toUpperCase(Locale.ROOT)).append(one.substring(1)));
    return name.toString();
  }

  private static String singular(String name) {
    return without(name, "s");
  }

  private static String without(String name, String suffix) {
    return name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : name;
  }
}
