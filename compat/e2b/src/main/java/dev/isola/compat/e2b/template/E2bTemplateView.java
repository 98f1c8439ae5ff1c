package dev.isola.compat.e2b.template;

import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Describes templates in the JSON of E2B's API. */
final class E2bTemplateView {
  private static final long DEFAULT_CPUS = 1;
  private static final long DEFAULT_MEMORY_MB = 1024;
  private static final int DISK_MB = 10_240;

  private E2bTemplateView() {}

  /**
   * Describes a template.
   *
   * @param newest the newest build of the template; empty if it has not been started or is no
   *     longer stored
   * @param envdVersion the version that sandboxes of the template report
   */
  static Map<String, Object> of(
      TemplateView template, Optional<BuildView> newest, String envdVersion) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template.id());
    json.put("buildID", template.build());
    json.put(
        "buildStatus",
        newest.map(build -> BuildStatus.word(build.state())).orElse(waiting(template)));
    json.put("cpuCount", template.cpus().orElse(DEFAULT_CPUS));
    json.put("memoryMB", template.memoryMb().orElse(DEFAULT_MEMORY_MB));
    json.put("diskSizeMB", DISK_MB);
    json.put("public", false);
    json.put("aliases", template.names());
    json.put("names", template.names());
    json.put("createdAt", template.createdAt().toString());
    json.put("updatedAt", template.updatedAt().toString());
    json.put("spawnCount", 0);
    json.put("buildCount", Math.max(1, template.builds()));
    json.put("envdVersion", envdVersion);
    return json;
  }

  private static String waiting(TemplateView template) {
    return template.image().isPresent() ? "ready" : "waiting";
  }
}
