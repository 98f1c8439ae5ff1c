package dev.isola.compat.mcp;

import dev.isola.server.auth.Confidential;
import dev.isola.spi.error.Fault;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The result of a call.
 *
 * @param text for the model: a string, or a {@link Confidential} one
 * @param structured the same for programs
 */
record ToolResult(Object text, Map<String, Object> structured, boolean isError) {
  static ToolResult of(String text, Map<String, Object> structured) {
    return new ToolResult(text, structured, false);
  }

  /** Returns a result with a link that gives access. */
  static ToolResult of(Confidential text, Map<String, Object> structured) {
    return new ToolResult(text, structured, false);
  }

  static ToolResult error(Fault fault) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("code", fault.code().name());
    json.put("problem", fault.problem());
    json.put("remedy", fault.remedy());
    fault.sandbox().ifPresent(id -> json.put("sandbox", id.value()));
    String text = fault.code().name() + ": " + fault.problem() + "\nRemedy: " + fault.remedy();
    return new ToolResult(text, json, true);
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("content", List.of(Map.of("type", "text", "text", text)));
    json.put("structuredContent", structured);
    json.put("isError", isError);
    return json;
  }
}
