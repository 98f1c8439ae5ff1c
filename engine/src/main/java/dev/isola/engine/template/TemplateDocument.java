package dev.isola.engine.template;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.document.recipe.Recipe;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads and writes the JSON document with the defaults of a template. */
final class TemplateDocument {
  private TemplateDocument() {}

  static String write(Recipe.Defaults defaults) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("env", new TreeMap<>(defaults.env()));
    json.put("user", defaults.user());
    json.put("cwd", defaults.cwd());
    defaults.start().ifPresent(command -> json.put("start", command));
    defaults.ready().ifPresent(command -> json.put("ready", command));
    return Json.text(json);
  }

  /** Reads a document; a damaged one yields no defaults. */
  static Recipe.Defaults read(String text) {
    return parse(text).map(json -> read(json, "cwd")).orElse(Recipe.Defaults.NONE);
  }

  /**
   * @param cwd the name of the member with the working directory
   */
  static Recipe.Defaults read(Map<String, Object> json, String cwd) {
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
