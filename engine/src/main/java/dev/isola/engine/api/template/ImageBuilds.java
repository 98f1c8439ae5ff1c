package dev.isola.engine.api.template;

import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.TemplateImages;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Builds images from recipes, with the steps, the cache and the limits of template builds. A build
 * runs on the thread of its caller and is not recorded: if it fails or is interrupted, nothing is
 * left of it but cached steps.
 */
public final class ImageBuilds {
  private final BuildRunner runner;
  private final BuildScheduler builds;
  private final TemplateImages images;
  private final Consumer<Recipe> validator;
  private final InstantSource clock;

  /**
   * @param validator rejects a recipe that cannot be built
   */
  ImageBuilds(
      BuildRunner runner,
      BuildScheduler builds,
      TemplateImages images,
      Consumer<Recipe> validator,
      InstantSource clock) {
    this.runner = runner;
    this.builds = builds;
    this.images = images;
    this.validator = validator;
    this.clock = clock;
  }

  /**
   * Rejects a build that cannot succeed, before anything is done.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the recipe or the name is invalid
   * @throws dev.isola.spi.error.NotFound if the template it starts from, or an archive, is missing
   * @throws dev.isola.spi.error.Conflict as {@link #build}
   */
  public void check(String image, boolean replace, Recipe recipe) {
    validator.accept(recipe);
    images.checkCanAdd(image, replace);
  }

  /**
   * Builds an image. It appears once all steps have succeeded; an existing one is used until then.
   *
   * @param image the name of the image
   * @param replace whether to replace an existing image of that name
   * @param log receives the lines of the log on the calling thread; may block
   * @throws dev.isola.spi.error.InvalidRequest with {@code BUILD_FAILED} if a step fails
   * @throws dev.isola.spi.error.Conflict if the name is taken, or a sandbox uses the image
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} if interrupted
   */
  public void build(
      String image,
      boolean replace,
      Recipe recipe,
      BuildSettings settings,
      Consumer<BuildLogEntry> log) {
    check(image, replace, recipe);
    String build = UUID.randomUUID().toString();
    BuildRunner.Plan plan =
        new BuildRunner.Plan(build, new ImageTarget(image, replace, false), recipe, settings);
    BuildLogWriter writer =
        (level, message, step) ->
            log.accept(new BuildLogEntry(clock.instant(), level, step, bounded(message)));
    try {
      builds.runHere(build, () -> runner.build(plan, writer));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the build was cancelled", "build again").exception(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (SandboxException e) {
      throw e.code() == ErrorCode.BUILD_FAILED ? withRemedy(e, settings.network()) : e;
    }
  }

  private static String bounded(String message) {
    return message.length() > BuildLog.LONGEST_LINE
        ? message.substring(0, BuildLog.LONGEST_LINE) + "..."
        : message;
  }

  private static SandboxException withRemedy(SandboxException e, NetworkMode network) {
    Fault fault =
        Fault.of(
            e.code(),
            e.fault().problem(),
            network == NetworkMode.NONE
                ? "correct the step; if it needs a network, which steps do not have by default, add"
                    + " --network"
                : "correct the step");
    for (Map.Entry<String, String> entry : e.context().entrySet()) {
      fault = fault.with(entry.getKey(), entry.getValue());
    }
    return fault.exception(e);
  }

  /** Returns the description of the source of an image that was built from a recipe. */
  static String source(Recipe recipe) {
    String base =
        switch (recipe.base()) {
          case Recipe.Base.Image image -> image.name();
          case Recipe.Base.FromTemplate(String name) -> "template " + name;
          case Recipe.Base.Host _ -> "the host";
        };
    return "a recipe from " + base + " with " + recipe.steps().size() + " steps";
  }

  /** Returns the metadata of an image that was built from a recipe. */
  static TemplateImages.NewImage metadata(
      ImageTarget target, Recipe recipe, Recipe.Defaults defaults) {
    return target.template()
        ? TemplateImages.NewImage.PLAIN
        : new TemplateImages.NewImage(
            source(recipe), defaults.env(), defaults.user(), defaults.cwd(), target.replace());
  }
}
