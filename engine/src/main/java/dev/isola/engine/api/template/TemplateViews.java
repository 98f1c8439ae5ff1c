package dev.isola.engine.api.template;

import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import dev.isola.store.BuildEntry;
import dev.isola.store.TemplateEntry;
import java.util.Optional;

/** Converts ledger records of templates and builds to the values of {@code engine.api}. */
final class TemplateViews {
  private TemplateViews() {}

  static TemplateView of(TemplateEntry entry) {
    TemplateDocument document = TemplateDocument.read(entry.document());
    Recipe.Defaults defaults = document.defaults();
    return new TemplateView(
        entry.id(),
        entry.names(),
        Optional.of(entry.image()).filter(image -> !image.isEmpty()),
        defaults.env(),
        defaults.user(),
        defaults.cwd(),
        defaults.start(),
        defaults.ready(),
        entry.cpus(),
        entry.memoryMb(),
        entry.build(),
        document.builds(),
        entry.createdAt(),
        entry.updatedAt());
  }

  static BuildView of(BuildEntry entry) {
    return new BuildView(
        entry.id(),
        entry.template(),
        BuildView.State.valueOf(entry.state().name()),
        entry.reason(),
        entry.failedStep().map(Long::intValue),
        entry.createdAt(),
        entry.updatedAt());
  }
}
