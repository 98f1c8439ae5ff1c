package dev.isola.engine.api.template;

import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.TemplateView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.TemplateEntries;
import dev.isola.store.TemplateEntry;
import dev.isola.store.TemplateEntry.State;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Records templates and their names. Each change is one transaction. */
public record TemplateDeclarations(Ledger ledger, InstantSource clock) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Finds an available template by its id or one of its names. */
  Optional<TemplateEntry> find(String name) {
    return find(ledger.templates(), name);
  }

  private static Optional<TemplateEntry> find(TemplateEntries templates, String name) {
    String plain = TemplateNames.withoutDefaultTag(name);
    return templates
        .find(plain)
        .filter(entry -> entry.state() == State.AVAILABLE)
        .or(
            () ->
                templates.all().stream()
                    .filter(one -> one.state() == State.AVAILABLE)
                    .filter(one -> one.names().contains(plain))
                    .findFirst());
  }

  TemplateEntry require(String name) {
    return find(name).orElseThrow(() -> missing("template '" + name + "' not found"));
  }

  /**
   * Returns a built template, whose {@code image} is present.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such template, or it has not been built
   */
  public TemplateView requireBuilt(String name) {
    TemplateView found = TemplateViews.of(require(name));
    if (found.image().isEmpty()) {
      throw missing("template '" + name + "' has not been built yet");
    }
    return found;
  }

  private static TemplateEntry requireBuilt(TemplateEntries templates, String name) {
    return find(templates, name)
        .filter(entry -> !entry.image().isEmpty())
        .orElseThrow(() -> missing("template '" + name + "' does not exist or was never built"));
  }

  static SandboxException missing(String what) {
    return Fault.of(ErrorCode.TEMPLATE_NOT_FOUND, what, "build it first").exception();
  }

  /**
   * Declares a template, or a new build of an existing one.
   *
   * @param names as {@link TemplateNames#of}; the template gets all but the first when the build
   *     succeeds
   */
  TemplateEntry declare(Set<String> names, Optional<Long> cpus, Optional<Long> memoryMb) {
    String id = SandboxId.random(RANDOM).value();
    String build = UUID.randomUUID().toString();
    return ledger.atomically(
        parts -> {
          TemplateEntries templates = parts.templates();
          String name = names.iterator().next();
          Optional<TemplateEntry> known = find(templates, name);
          Instant now = now();
          TemplateDocument document =
              known
                  .map(entry -> TemplateDocument.read(entry.document()))
                  .orElseGet(() -> TemplateDocument.of(Recipe.Defaults.NONE))
                  .requested(
                      build,
                      known.map(entry -> templates.builds(entry.id()).size()).orElse(0),
                      names.stream().skip(1).toList(),
                      other ->
                          templates.build(other).filter(one -> !one.state().isOver()).isPresent());
          TemplateEntry entry =
              new TemplateEntry(
                  known.map(TemplateEntry::id).orElse(id),
                  known.map(TemplateEntry::names).orElse(List.of(name)),
                  known.map(TemplateEntry::image).orElse(""),
                  document.write(),
                  cpus,
                  memoryMb,
                  build,
                  State.AVAILABLE,
                  known.map(TemplateEntry::createdAt).orElse(now),
                  now);
          if (known.isPresent()) {
            boolean _ = templates.update(entry);
          } else {
            refuseWhenFull(templates);
            boolean _ = templates.insert(entry);
          }
          return entry;
        });
  }

  private static void refuseWhenFull(TemplateEntries templates) {
    if (templates.all().size() >= TemplateService.MAX_TEMPLATES) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the limit of " + TemplateService.MAX_TEMPLATES + " templates is reached",
              "remove some")
          .with("limit", Integer.toString(TemplateService.MAX_TEMPLATES))
          .exception();
    }
  }

  /**
   * Adds tags to a built template.
   *
   * @param name the template, or one of its tags
   */
  TemplateEntry tag(String name, List<String> tags) {
    return ledger.atomically(
        parts -> {
          TemplateEntry entry = requireBuilt(parts.templates(), name);
          Set<String> names = new LinkedHashSet<>(entry.names());
          names.addAll(TemplateNames.of(entry.names().getFirst(), tags));
          TemplateEntry tagged = entry.withNames(List.copyOf(names), now());
          boolean _ = parts.templates().update(tagged);
          return tagged;
        });
  }

  /** Removes tags from a template. If one of them does not exist, nothing is removed. */
  void untag(String name, List<String> tags) {
    boolean _ =
        ledger.atomically(
            parts -> {
              TemplateEntry entry =
                  find(parts.templates(), name)
                      .orElseThrow(() -> missing("template '" + name + "' not found"));
              Set<String> removed = TemplateNames.of(entry.names().getFirst(), tags);
              removed.remove(entry.names().getFirst());
              for (String one : removed) {
                if (!entry.names().contains(one)) {
                  throw missing("there is no tag '" + one + "'");
                }
              }
              List<String> left =
                  entry.names().stream().filter(one -> !removed.contains(one)).toList();
              return parts.templates().update(entry.withNames(left, now()));
            });
  }

  /** Returns the current time in the precision of the ledger. */
  Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }
}
