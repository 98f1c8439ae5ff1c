package dev.isola.engine.api.trace;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A completed span.
 *
 * @param begun the start time in nanoseconds since the epoch, like {@code ended}
 * @param server whether it represents an incoming request
 */
record Span(
    TraceContext context,
    String name,
    boolean server,
    long begun,
    long ended,
    boolean succeeded,
    Map<String, String> attributes) {
  private static final int INTERNAL = 1;
  private static final int SERVER = 2;
  private static final int ERROR = 2;

  /** Returns the span in OTLP/JSON form. */
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("traceId", context.traceId());
    json.put("spanId", context.spanId());
    if (!context.parentId().isEmpty()) {
      json.put("parentSpanId", context.parentId());
    }
    json.put("name", name);
    json.put("kind", server ? SERVER : INTERNAL);
    json.put("startTimeUnixNano", Long.toString(begun));
    json.put("endTimeUnixNano", Long.toString(ended));
    json.put("attributes", attributes(attributes));
    json.put("status", succeeded ? Map.of() : Map.of("code", ERROR));
    return json;
  }

  static List<Map<String, Object>> attributes(Map<String, String> values) {
    return values.entrySet().stream()
        .<Map<String, Object>>map(
            one -> Map.of("key", one.getKey(), "value", Map.of("stringValue", one.getValue())))
        .toList();
  }
}
