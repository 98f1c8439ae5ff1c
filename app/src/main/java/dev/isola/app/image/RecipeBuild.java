package dev.isola.app.image;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.RecipeFile;
import dev.isola.app.remote.RemoteFault;
import dev.isola.client.ImageBuildOptions;
import dev.isola.client.Images;
import dev.isola.client.TemplateRecipe;
import dev.isola.client.error.IsolaException;
import dev.isola.document.RecipeDocument;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.ProviderNames;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A build of an image from a recipe, on this machine or on a server.
 *
 * @param name the name of the image; an existing one is replaced
 * @param provider empty for the default
 */
record RecipeBuild(
    CommandContext context,
    String name,
    RecipeFile.LoadedRecipe recipe,
    String provider,
    NetworkMode network) {

  /** Settings of a template that an image does not have. */
  private static final List<String> OF_TEMPLATES = List.of("start", "ready", "cpu", "memoryMb");

  /** Runs a build and returns the image. */
  private interface Builder {
    ImageReport build(TemplateRecipe recipe, BuildProgress progress) throws IOException;
  }

  int onServer(Images images) {
    ImageBuildOptions options =
        new ImageBuildOptions(provider, network.name().toLowerCase(Locale.ROOT), true);
    return run(
        (document, progress) ->
            ImageReport.of(
                images.build(
                    name,
                    document,
                    recipe.folder(),
                    options,
                    line -> progress.add(line.step(), line.level(), line.message()))));
  }

  int onThisMachine() {
    BuildSettings settings =
        new BuildSettings(provider.isEmpty() ? "" : ProviderNames.canonical(provider), network);
    return run(
        (document, progress) -> {
          try (LocalBuilds builds = LocalBuilds.open(context)) {
            return ImageReport.of(
                builds.build(
                    name,
                    true,
                    document,
                    recipe.folder(),
                    settings,
                    line ->
                        progress.add(
                            line.step().map(Integer::longValue),
                            line.level().name().toLowerCase(Locale.ROOT),
                            line.message())));
          }
        });
  }

  private int run(Builder builder) {
    Console console = context.console();
    Recipe read = RecipeDocument.check(recipe.document());
    if (!console.json()) {
      recipe.notes().forEach(note -> console.printErr("note: " + note));
    }
    ImageReport image;
    try (BuildProgress progress = new BuildProgress(context, read.steps().size())) {
      try {
        image = builder.build(ofImage(console), progress);
      } catch (SandboxException e) {
        return failed(e, progress, read.steps().size());
      } catch (IsolaException e) {
        return failed(RemoteFault.of(e), progress, read.steps().size());
      }
    } catch (IOException e) {
      throw new UsageException(
          "files that the recipe copies cannot be read: " + e.getMessage(),
          "check " + recipe.folder());
    }
    return ImageAddOptions.print(console, image);
  }

  /** Returns the recipe without the settings that an image does not have. */
  private TemplateRecipe ofImage(Console console) {
    Map<String, Object> document = new LinkedHashMap<>(recipe.document());
    for (String field : OF_TEMPLATES) {
      if (document.remove(field) != null && !console.json()) {
        console.printErr(
            "note: "
                + (field.equals("start") ? "the start command" : field)
                + " has no effect in an image; isola template build keeps it");
      }
    }
    return new TemplateRecipe(document);
  }

  private int failed(SandboxException e, BuildProgress progress, int steps) {
    if (e.code() != ErrorCode.BUILD_FAILED) {
      throw e;
    }
    Console console = context.console();
    progress.fail();
    if (console.json()) {
      ErrorReport.write(context.environment(), e.fault(), true);
      return ExitCodes.FAILED;
    }
    Map<String, String> about = e.context();
    console.printErr(
        about.containsKey("exitCode")
            ? "step "
                + about.getOrDefault("step", "?")
                + " of "
                + steps
                + " failed with exit code "
                + about.get("exitCode")
                + ": "
                + about.getOrDefault("command", "")
                + "; "
                + e.fault().remedy()
            : e.fault().problem() + "; " + e.fault().remedy());
    return ExitCodes.FAILED;
  }
}
