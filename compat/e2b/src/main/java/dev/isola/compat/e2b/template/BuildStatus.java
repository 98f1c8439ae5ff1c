package dev.isola.compat.e2b.template;

import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Describes a build in the JSON of E2B's API. */
final class BuildStatus {
  /** The number of log lines in one response. */
  static final int PAGE = 100;

  private BuildStatus() {}

  static Map<String, Object> of(BuildView build, List<BuildLogEntry> lines) {
    Map<String, Object> json =
        json(
            build.template(),
            build.id(),
            word(build.state()),
            lines.stream().map(BuildStatus::line).toList());
    if (build.state() == BuildView.State.FAILED) {
      Map<String, Object> reason = new LinkedHashMap<>();
      reason.put("message", build.reason());
      build.failedStep().ifPresent(step -> reason.put("step", step.toString()));
      reason.put("logEntries", List.of());
      json.put("reason", reason);
    }
    return json;
  }

  /** Describes a build that was never started or is no longer stored. */
  static Map<String, Object> unknown(TemplateView template, String build) {
    boolean ready = template.image().isPresent() && template.build().equals(build);
    Map<String, Object> json = json(template.id(), build, ready ? "ready" : "error", List.of());
    if (!ready) {
      json.put("reason", Map.of("message", "the build does not exist", "logEntries", List.of()));
    }
    return json;
  }

  private static Map<String, Object> json(
      String template, String build, String status, List<Map<String, Object>> lines) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template);
    json.put("buildID", build);
    json.put("status", status);
    json.put("logEntries", lines);
    json.put("logs", List.of());
    return json;
  }

  static String word(BuildView.State state) {
    return switch (state) {
      case WAITING, RUNNING -> "building";
      case READY -> "ready";
      case FAILED -> "error";
    };
  }

  private static Map<String, Object> line(BuildLogEntry line) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("timestamp", line.at().toString());
    json.put("level", line.level().name().toLowerCase(Locale.ROOT));
    json.put("message", line.message());
    line.step().ifPresent(step -> json.put("step", step.toString()));
    return json;
  }
}
