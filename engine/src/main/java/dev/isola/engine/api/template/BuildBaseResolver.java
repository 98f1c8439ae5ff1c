package dev.isola.engine.api.template;

import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.TemplateImages;
import dev.isola.engine.api.TemplateView;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Resolves the base of a recipe.
 *
 * @param templates returns a built template
 */
record BuildBaseResolver(TemplateImages images, Function<String, TemplateView> templates) {

  /** Returns the base, pulling its image if necessary. */
  BuildBase resolve(Recipe.Base base, Consumer<String> progress) {
    return switch (base) {
      case Recipe.Base.Host(Recipe.Defaults defaults) ->
          new BuildBase(Optional.empty(), defaults, Optional.empty(), false);
      case Recipe.Base.Image(String name, Recipe.Defaults defaults, boolean createUser) ->
          of(stored(name, progress), defaults, createUser);
      case Recipe.Base.FromTemplate(String name) -> of(templates.apply(name));
    };
  }

  private String stored(String name, Consumer<String> progress) {
    return name.startsWith(SnapshotImageName.PREFIX) || images.find(name).isPresent()
        ? name
        : images.pull(name, progress);
  }

  private BuildBase of(TemplateView template) {
    return of(
        template.image().orElseThrow(),
        new Recipe.Defaults(
            template.env(), template.user(), template.cwd(), template.start(), template.ready()),
        false);
  }

  private BuildBase of(String image, Recipe.Defaults own, boolean withUser) {
    boolean createUser = withUser && !own.user().isEmpty();
    Optional<TemplateImages.StoredImage> stored = images.find(image);
    Recipe.Defaults defaults = stored.map(one -> merged(one, own)).orElse(own);
    String identity =
        stored.map(TemplateImages.StoredImage::digest).filter(one -> !one.isEmpty()).orElse(image);
    return new BuildBase(
        Optional.of(image),
        defaults,
        Optional.of(BuildKeys.base(identity, defaults, createUser)),
        createUser);
  }

  /** Adds the defaults of the image, because the built image keeps only its files. */
  private static Recipe.Defaults merged(TemplateImages.StoredImage image, Recipe.Defaults own) {
    Map<String, String> env = new TreeMap<>(image.env());
    env.putAll(own.env());
    return new Recipe.Defaults(
        env,
        own.user().isEmpty() ? image.user() : own.user(),
        own.cwd().isEmpty() ? image.cwd() : own.cwd(),
        own.start(),
        own.ready());
  }
}
