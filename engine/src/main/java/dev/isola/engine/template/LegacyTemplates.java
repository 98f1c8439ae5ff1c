package dev.isola.engine.template;

import dev.isola.engine.api.Log;
import dev.isola.store.BuildEntry;
import dev.isola.store.Ledger;
import dev.isola.store.TemplateEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Migrates the templates that earlier versions stored as settings of the E2B API. */
public record LegacyTemplates(Ledger ledger, InstantSource clock, Log log) {
  static final String SCOPE = "e2b-template";

  /** Migrates each template in one transaction. */
  public void migrate() {
    ledger.settings().all(SCOPE).forEach(this::migrate);
  }

  private void migrate(String id, String text) {
    boolean migrated =
        TemplateDocument.parse(text)
            .map(json -> entry(id, json))
            .filter(entry -> !entry.names().isEmpty())
            .filter(this::move)
            .isPresent();
    if (!migrated) {
      log.warning("the template " + id + " of an earlier version could not be migrated");
    }
  }

  private boolean move(TemplateEntry entry) {
    return ledger.atomically(
        parts -> {
          if (!parts.templates().insert(entry)) {
            return false;
          }
          if (!entry.image().isEmpty()) {
            boolean _ = parts.templates().insert(build(entry));
          }
          return parts.settings().remove(SCOPE, entry.id());
        });
  }

  private TemplateEntry entry(String id, Map<String, Object> json) {
    List<String> names =
        json.get("names") instanceof List<?> all
            ? all.stream().map(String::valueOf).toList()
            : List.of();
    return new TemplateEntry(
        id,
        names,
        TemplateDocument.text(json, "image").orElse(""),
        TemplateDocument.of(TemplateDocument.defaults(json, "folder")).write(),
        number(json, "cpus"),
        number(json, "memoryMb"),
        TemplateDocument.text(json, "build").orElse(""),
        TemplateEntry.State.AVAILABLE,
        created(json),
        clock.instant());
  }

  /** Returns the build that created the image, so that removing the build removes the image. */
  private static BuildEntry build(TemplateEntry entry) {
    return new BuildEntry(
        entry.build().isEmpty() ? entry.id() : entry.build(),
        entry.id(),
        BuildEntry.State.READY,
        entry.image(),
        "",
        Optional.empty(),
        entry.createdAt(),
        entry.updatedAt());
  }

  private static Optional<Long> number(Map<String, Object> json, String name) {
    return json.get(name) instanceof Number number
        ? Optional.of(number.longValue())
        : Optional.empty();
  }

  private Instant created(Map<String, Object> json) {
    try {
      return Instant.parse(TemplateDocument.text(json, "createdAt").orElse(""));
    } catch (DateTimeParseException unreadable) {
      return clock.instant();
    }
  }
}
