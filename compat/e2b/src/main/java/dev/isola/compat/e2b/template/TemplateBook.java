package dev.isola.compat.e2b.template;

import dev.isola.engine.api.Settings;
import java.util.List;
import java.util.Optional;

/** The templates that somebody built here. */
public record TemplateBook(Settings settings) {
  private static final String SCOPE = "e2b-template";

  /** Finds one by its id or one of its names. */
  public Optional<Template> find(String name) {
    return settings
        .get(SCOPE, name)
        .map(Template::read)
        .or(() -> all().stream().filter(one -> one.names().contains(name)).findFirst());
  }

  public List<Template> all() {
    return settings.all(SCOPE).values().stream().map(Template::read).toList();
  }

  public void put(Template template) {
    settings.put(SCOPE, template.id(), template.text());
  }

  public void remove(Template template) {
    settings.remove(SCOPE, template.id());
  }
}
