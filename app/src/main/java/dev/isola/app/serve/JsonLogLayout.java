package dev.isola.app.serve;

import dev.isola.codec.json.Json;
import dev.isola.server.AccessLog;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Formats log lines as JSON objects. */
public record JsonLogLayout() implements LogLayout {
  @Override
  public String message(Instant at, String level, String sentence) {
    Map<String, Object> line = fields(at, level);
    line.put("message", sentence);
    return Json.text(line);
  }

  @Override
  public String request(Instant at, AccessLog.Line request) {
    Map<String, Object> line = fields(at, "request");
    line.put("method", request.method());
    line.put("route", request.route());
    line.put("status", request.status());
    line.put("ms", request.millis());
    line.put("requestId", request.requestId());
    line.put("key", request.key());
    return Json.text(line);
  }

  private static Map<String, Object> fields(Instant at, String level) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", at.toString());
    line.put("level", level);
    return line;
  }
}
