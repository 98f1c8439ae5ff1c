package dev.isola.compat.e2b.template;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is told of one build. Its lines are bounded, since commands write them. */
final class BuildLog {
  private static final int MOST_LINES = 100_000;
  private static final int LONGEST_LINE = 4096;
  private static final int PAGE = 100;

  private enum Status {
    BUILDING,
    READY,
    ERROR;

    String word() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  private final InstantSource clock;
  private final List<Map<String, Object>> lines = new ArrayList<>();
  private Status status = Status.BUILDING;
  private @Nullable Map<String, Object> reason;

  BuildLog(InstantSource clock) {
    this.clock = clock;
  }

  synchronized void line(String level, String message, Optional<Integer> step) {
    if (lines.size() < MOST_LINES) {
      lines.add(entry(level, message, step));
    } else if (lines.size() == MOST_LINES) {
      lines.add(entry("warn", "what follows is not kept", Optional.empty()));
    }
  }

  private Map<String, Object> entry(String level, String message, Optional<Integer> step) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("timestamp", clock.instant().toString());
    line.put("level", level);
    line.put(
        "message",
        message.length() > LONGEST_LINE ? message.substring(0, LONGEST_LINE) + "..." : message);
    step.ifPresent(number -> line.put("step", number.toString()));
    return line;
  }

  synchronized void ready() {
    status = Status.READY;
  }

  synchronized void failed(String message, Optional<Integer> step) {
    line("error", message, step);
    status = Status.ERROR;
    Map<String, Object> why = new LinkedHashMap<>();
    why.put("message", message);
    step.ifPresent(number -> why.put("step", number.toString()));
    why.put("logEntries", List.of());
    reason = why;
  }

  synchronized boolean isOver() {
    return status != Status.BUILDING;
  }

  /**
   * @param from the number of the first line that is wanted
   */
  synchronized Map<String, Object> told(String template, String build, int from) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template);
    json.put("buildID", build);
    json.put("status", status.word());
    int begin = Math.min(from, lines.size());
    json.put("logEntries", List.copyOf(lines.subList(begin, Math.min(lines.size(), begin + PAGE))));
    json.put("logs", List.of());
    if (reason != null) {
      json.put("reason", reason);
    }
    return json;
  }
}
