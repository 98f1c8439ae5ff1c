package dev.isola.server.api;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.FileInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Renders objects as JSON; {@link Shapes} describes the results. */
final class JsonViews {
  private JsonViews() {}

  static Map<String, Object> sandbox(SandboxView entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", entry.id().value());
    entry.name().ifPresent(name -> json.put("name", name));
    json.put("state", wireName(entry.state()));
    json.put("provider", entry.provider());
    json.put("isolation", wireName(entry.isolation()));
    json.put("warm", entry.warm());
    json.put(
        "attempts",
        entry.attempts().stream()
            .map(
                one ->
                    Map.of(
                        "provider", one.provider(),
                        "reason", one.reason(),
                        "at", one.at().toString()))
            .toList());
    json.put("createdAt", entry.createdAt().toString());
    json.put("lastActivity", entry.lastActivity().toString());
    entry.expiresAt().ifPresent(at -> json.put("expiresAt", at.toString()));
    entry.idleTimeout().ifPresent(time -> json.put("idleTimeoutSeconds", time.toSeconds()));
    entry.cause().ifPresent(cause -> json.put("cause", cause));
    json.put("tags", entry.labels());
    if (entry.damage().isPresent()) {
      json.put("spec", Map.of()); // the spec is unreadable; the cause says so
      return json;
    }
    Map<String, Object> spec = spec(entry.request());
    List<String> secret = entry.secretNames();
    if (!secret.isEmpty()) {
      spec.put(
          "secretEnv", secret); // a list of names; if it is sent back as a spec, it is rejected
    }
    json.put("spec", spec);
    return json;
  }

  /**
   * Renders a spec. Environment variables, files and commands often contain secrets, so they
   * require the scope use.
   */
  private static Map<String, Object> spec(CreateRequest request) {
    return SpecDocument.forResponse(request, value -> Confidential.content(value, Scope.USE));
  }

  static Map<String, Object> file(FileInfo info) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("path", info.path());
    json.put("name", info.name());
    json.put("type", wireName(info.type()));
    json.put("mode", String.format(Locale.ROOT, "%04o", info.mode()));
    json.put("size", info.size());
    json.put("uid", info.uid());
    json.put("gid", info.gid());
    json.put("owner", info.owner());
    json.put("group", info.group());
    json.put("modifiedAt", info.modifiedAt().toString());
    info.linkTarget().ifPresent(target -> json.put("linkTarget", target));
    return json;
  }

  static Map<String, Object> exit(Exit exit) {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (exit) {
      case Exit.Exited(int code) -> {
        json.put("kind", "exited");
        json.put("code", code);
      }
      case Exit.Signaled(var signal) -> {
        json.put("kind", "signaled");
        json.put("signal", signal.name());
        json.put("number", signal.number());
      }
      case Exit.TimedOut(Duration after) -> {
        json.put("kind", "timedOut");
        json.put("afterMs", after.toMillis());
      }
      case Exit.OutOfMemory() -> json.put("kind", "outOfMemory");
      case Exit.Lost(String why) -> {
        json.put("kind", "lost");
        json.put("why", why);
      }
    }
    return json;
  }

  static String wireName(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  static List<String> wireNames(Iterable<? extends Enum<?>> constants) {
    List<String> words = new java.util.ArrayList<>();
    constants.forEach(one -> words.add(wireName(one)));
    words.sort(null);
    return words;
  }
}
