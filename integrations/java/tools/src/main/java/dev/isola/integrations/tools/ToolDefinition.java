package dev.isola.integrations.tools;

import dev.isola.codec.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a model reads about a tool. */
public record ToolDefinition(String name, String description, List<ToolParameter> parameters) {
  public ToolDefinition {
    parameters = List.copyOf(parameters);
  }

  /** Returns the JSON schema of the arguments. */
  public String inputSchema() {
    Map<String, Object> properties = new LinkedHashMap<>();
    parameters.forEach(parameter -> properties.put(parameter.name(), parameter.schema()));
    return Json.text(
        Json.object(
            "type",
            "object",
            "properties",
            properties,
            "required",
            parameters.stream().filter(ToolParameter::required).map(ToolParameter::name).toList(),
            "additionalProperties",
            false));
  }
}
