package dev.isola.engine.api.template;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.document.recipe.Recipe;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The JSON document of a template in the ledger.
 *
 * @param defaults the defaults of its sandboxes
 * @param builds the number of builds that were requested
 * @param requestedNames for each build that has not ended, the names that the template gets when
 *     the build succeeds
 */
record TemplateDocument(
    Recipe.Defaults defaults, long builds, Map<String, List<String>> requestedNames) {
  private static final TemplateDocument EMPTY =
      new TemplateDocument(Recipe.Defaults.NONE, 0, Map.of());

  TemplateDocument {
    requestedNames = Map.copyOf(requestedNames);
  }

  static TemplateDocument of(Recipe.Defaults defaults) {
    return new TemplateDocument(defaults, 0, Map.of());
  }

  /**
   * Returns this document with one more build.
   *
   * @param before the number of builds that are recorded, for a document that does not count them
   * @param names the names that the template gets when the build succeeds
   * @param pending whether an earlier build can still succeed
   */
  TemplateDocument requested(
      String build, int before, List<String> names, Predicate<String> pending) {
    Map<String, List<String>> all = new TreeMap<>(requestedNames);
    all.keySet().removeIf(pending.negate());
    all.put(build, List.copyOf(names));
    return new TemplateDocument(defaults, Math.max(builds, before) + 1, all);
  }

  /** Returns this document after a build has succeeded. */
  TemplateDocument finished(String build, Recipe.Defaults result) {
    Map<String, List<String>> others = new TreeMap<>(requestedNames);
    others.remove(build);
    return new TemplateDocument(result, builds, others);
  }

  /** Returns the names that the template gets when a build succeeds. */
  List<String> requestedNames(String build) {
    return requestedNames.getOrDefault(build, List.of());
  }

  String write() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("env", new TreeMap<>(defaults.env()));
    json.put("user", defaults.user());
    json.put("cwd", defaults.cwd());
    defaults.start().ifPresent(command -> json.put("start", command));
    defaults.ready().ifPresent(command -> json.put("ready", command));
    json.put("builds", builds);
    json.put("requestedNames", new TreeMap<>(requestedNames));
    return Json.text(json);
  }

  /** Reads a document; a damaged one is empty. */
  static TemplateDocument read(String text) {
    return parse(text)
        .map(
            json ->
                new TemplateDocument(
                    defaults(json, "cwd"),
                    json.get("builds") instanceof Number number ? number.longValue() : 0,
                    names(json)))
        .orElse(EMPTY);
  }

  private static Map<String, List<String>> names(Map<String, Object> json) {
    Map<String, List<String>> names = new TreeMap<>();
    if (json.get("requestedNames") instanceof Map<?, ?> builds) {
      builds.forEach(
          (build, list) -> {
            if (list instanceof List<?> words) {
              List<String> all = new ArrayList<>();
              words.forEach(word -> all.add(String.valueOf(word)));
              names.put(String.valueOf(build), all);
            }
          });
    }
    return names;
  }

  /**
   * Reads the defaults of sandboxes.
   *
   * @param cwd the name of the member with the working directory
   */
  static Recipe.Defaults defaults(Map<String, Object> json, String cwd) {
    Map<String, String> env = new TreeMap<>();
    if (json.get("env") instanceof Map<?, ?> variables) {
      variables.forEach((name, value) -> env.put(String.valueOf(name), String.valueOf(value)));
    }
    return new Recipe.Defaults(
        env,
        text(json, "user").orElse(""),
        text(json, cwd).orElse(""),
        text(json, "start"),
        text(json, "ready"));
  }

  static Optional<String> text(Map<String, Object> json, String name) {
    return json.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  static Optional<Map<String, Object>> parse(String text) {
    try {
      return Optional.of(Json.parseObject(text));
    } catch (MalformedJson unreadable) {
      return Optional.empty();
    }
  }
}
