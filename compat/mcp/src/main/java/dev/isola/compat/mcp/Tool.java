package dev.isola.compat.mcp;

import dev.isola.server.auth.Scope;
import dev.isola.server.route.Shape;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A tool: what an agent reads about it, the scope that the key needs, and what it does.
 *
 * @param reads whether it changes nothing
 */
record Tool(
    String name, String description, Scope scope, boolean reads, Shape.Obj input, Action action) {

  /** Carries a call out. An exception becomes a result that is an error. */
  interface Action {
    ToolResult call(ToolCall call) throws IOException, InterruptedException;
  }

  /** Returns the definition that clients pass on to their model. */
  Map<String, Object> definition() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("description", description);
    json.put("inputSchema", brief(input.definition()));
    json.put("annotations", Map.of("readOnlyHint", reads));
    return json;
  }

  /** Leaves out limits that a model does not need; the server checks them. */
  private static Map<String, Object> brief(Map<?, ?> schema) {
    Map<String, Object> brief = new LinkedHashMap<>();
    schema.forEach(
        (name, value) -> {
          switch (String.valueOf(name)) {
            case "maxLength", "minLength", "format", "maxItems", "propertyNames" -> {}
            case "minimum", "maximum" -> {}
            default ->
                brief.put(
                    String.valueOf(name), value instanceof Map<?, ?> inner ? brief(inner) : value);
          }
        });
    return brief;
  }
}
