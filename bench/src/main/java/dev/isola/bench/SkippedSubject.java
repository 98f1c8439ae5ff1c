package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/** A subject that was not measured, or not to the end, and the reason. */
public record SkippedSubject(String subject, String reason) {
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("subject", subject);
    json.put("reason", reason);
    return json;
  }
}
