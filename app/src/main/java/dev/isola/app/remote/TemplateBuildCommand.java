package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.TemplateBuild;
import dev.isola.client.TemplateBuildInfo;
import dev.isola.client.TemplateRecipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola template build}. */
@Command(
    name = "build",
    sortOptions = false,
    description = {
      "Build a template from a recipe and follow its log.",
      "Files that the recipe copies are read from FOLDER, respecting its .dockerignore.",
      "Exit code: 0 if the template is ready, 1 if a build step failed."
    })
final class TemplateBuildCommand extends RemoteCommand {
  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE",
      description =
          "Recipe (YAML or JSON) or Dockerfile. Default: "
              + RecipeFile.NAME
              + ", or Dockerfile, in FOLDER.")
  private @Nullable String file;

  @Option(
      names = "--build-arg",
      paramLabel = "NAME=VALUE",
      description = "Value for an ARG of a Dockerfile. Repeatable.")
  private List<String> arguments = new ArrayList<>();

  @Option(
      names = "--provider",
      paramLabel = "P",
      description = "Provider that runs the build. Default: chosen by the server.")
  private String provider = "";

  @Option(
      names = "--network",
      paramLabel = "MODE",
      description = "Network mode of the steps: bridge or host. Default: the provider's.")
  private String network = "";

  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the template.")
  private String name = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FOLDER",
      description = "Folder that copy paths are relative to. Default: the current folder.")
  private String folder = ".";

  TemplateBuildCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Path source = Arguments.hostPath("FOLDER", folder);
    RecipeFile.LoadedRecipe recipe =
        RecipeFile.load(
            file == null ? source : Arguments.hostPath("--file", file),
            Arguments.variables("--build-arg", arguments),
            image -> RecipeFile.variables(isola.images(), image));
    recipe.notes().forEach(note -> console.printErr("note: " + note));
    TemplateRecipe read = new TemplateRecipe(recipe.document());
    try (TemplateBuild build = isola.templates().build(name, read, source, provider, network)) {
      BuildOutput output = new BuildOutput(console);
      for (Optional<TemplateBuild.Line> line = build.read();
          line.isPresent();
          line = build.read()) {
        output.add(line.get());
      }
      return ended(build.await(), output, console);
    } catch (IOException e) {
      throw new UsageException(
          "files that the recipe copies cannot be read: " + e.getMessage(), "check " + source);
    }
  }

  private int ended(TemplateBuildInfo result, BuildOutput output, Console console) {
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>(result.document());
      if (!result.isReady()) {
        json.put("output", output.tail());
      }
      console.print(json);
    } else if (result.isReady()) {
      console.print("template " + CellFormat.text(name) + " is ready\n");
    }
    if (result.isReady()) {
      return ExitCodes.OK;
    }
    console.printErr(
        (result.failedStep().isPresent() ? "" : "the build failed: ") + result.reason());
    return ExitCodes.FAILED;
  }
}
