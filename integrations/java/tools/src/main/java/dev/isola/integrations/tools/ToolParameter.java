package dev.isola.integrations.tools;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A parameter of a tool.
 *
 * @param choices the values that a text may have; empty if any is allowed
 */
public record ToolParameter(
    String name, Type type, String description, boolean required, List<String> choices) {
  /** Type of a value. */
  public enum Type {
    TEXT("string"),
    INTEGER("integer");

    private final String schemaName;

    Type(String schemaName) {
      this.schemaName = schemaName;
    }
  }

  public ToolParameter {
    choices = List.copyOf(choices);
  }

  static ToolParameter required(String name, Type type, String description) {
    return new ToolParameter(name, type, description, true, List.of());
  }

  static ToolParameter optional(String name, Type type, String description) {
    return new ToolParameter(name, type, description, false, List.of());
  }

  Map<String, Object> schema() {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", type.schemaName);
    schema.put("description", description);
    if (!choices.isEmpty()) {
      schema.put("enum", choices);
    }
    return schema;
  }
}
