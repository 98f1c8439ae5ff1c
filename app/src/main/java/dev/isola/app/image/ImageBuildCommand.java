package dev.isola.app.image;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.RunOptions;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.RecipeFile;
import dev.isola.client.Images;
import dev.isola.host.image.DebianRecipe;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageSource;
import dev.isola.spi.spec.NetworkMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Stack;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image build}. */
@Command(
    name = "build",
    sortOptions = false,
    description = {
      "Build an image: a ready one, from a recipe or a Dockerfile (-f), or from the packages of a"
          + " distribution (--from).",
      "Exit code: 0 if the image is complete, 1 if a build step failed."
    },
    footer = {
      "%nReady images: base is Debian bookworm with bash, python, pip, git, curl, sudo,",
      "ca-certificates and procps, and the user 'user' (UID 1000), which may use sudo. python,",
      "node and java add venv, nodejs and npm, a JDK and maven; full adds all of these and build",
      "tools.",
      "%nReady images and --from use mmdebstrap (root is not required) or debootstrap, and the",
      "package mirror of this machine. Steps of a recipe run in a sandbox, without a network",
      "unless --network is given; unchanged steps are cached.",
      "%nExamples:",
      "  isola image build python",
      "  isola image build web -f .              isola-template.yaml or Dockerfile in this folder",
      "  isola image build web -f Dockerfile --network"
    })
final class ImageBuildCommand implements CliCommand {
  /** Takes a word after {@code --network} only if it is a mode: it may be the name of the image. */
  static final class NetworkParameter implements IParameterConsumer {
    @Override
    public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
      boolean mode =
          !words.isEmpty()
              && Stream.of(NetworkMode.values())
                  .anyMatch(one -> one.name().equalsIgnoreCase(words.peek()));
      option.setValue(mode ? words.pop() : "bridge");
    }
  }

  private final CommandContext context;

  @Parameters(paramLabel = "NAME", description = "Name of the image.")
  private String name = "";

  @Option(
      names = {"-f", "--file"},
      paramLabel = "FILE|FOLDER",
      description =
          "Recipe (YAML or JSON) or Dockerfile, or a folder with one. Files to copy are read from"
              + " its folder. Replaces an image of the same name.")
  private @Nullable String file;

  @Option(
      names = "--network",
      arity = "0..1",
      parameterConsumer = NetworkParameter.class,
      paramLabel = "MODE",
      completionCandidates = RunOptions.NetworkModes.class,
      description =
          "Give the steps of a recipe a network; --network=host that of the host. Default: none.")
  private @Nullable String network;

  @Option(
      names = "--provider",
      paramLabel = "P",
      description = "Provider that runs the steps of a recipe. Default: the configured one.")
  private String provider = "";

  @Option(
      names = "--build-arg",
      paramLabel = "NAME=VALUE",
      description = "Value for an ARG of a Dockerfile. Repeatable.")
  private List<String> arguments = new ArrayList<>();

  @Option(
      names = "--from",
      paramLabel = "DISTRO:SUITE",
      description = "Distribution to build from, such as debian:bookworm.")
  private @Nullable String from;

  @Option(
      names = "--packages",
      paramLabel = "NAME",
      split = ",",
      description = "Additional packages, separated by commas. Repeatable.")
  private List<String> packages = new ArrayList<>();

  @Option(
      names = "--variant",
      paramLabel = "VARIANT",
      description = "Variant of mmdebstrap or debootstrap. Default: ${DEFAULT-VALUE}.")
  private String variant = DebianRecipe.VARIANT;

  @Option(
      names = "--mirror",
      paramLabel = "URL",
      description = "Package mirror. Default: the mirror of this machine.")
  private @Nullable String mirror;

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();
  @Mixin private final ImagePlace place = new ImagePlace();

  ImageBuildCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (file != null) {
      String recipe = file;
      return place.run(
          context,
          store -> recipeBuild(recipe, base -> store.find(base).map(Image::env)).onThisMachine(),
          images ->
              recipeBuild(recipe, base -> RecipeFile.variables(images, base)).onServer(images));
    }
    refuse("-f", network != null, "--network");
    refuse("-f", !provider.isEmpty(), "--provider");
    refuse("-f", !arguments.isEmpty(), "--build-arg");
    boolean ready = DebianRecipe.READY.containsKey(name);
    if (from == null && !ready) {
      throw new UsageException(
          "what to build " + name + " from is missing",
          "add -f with a recipe or a Dockerfile, or --from debian:bookworm; ready images are "
              + String.join(", ", new TreeSet<>(DebianRecipe.READY.keySet())));
    }
    return place.run(context, store -> fromPackages(ready), this::readyOnServer);
  }

  private RecipeBuild recipeBuild(
      String recipe, Function<String, Optional<Map<String, String>>> images) {
    boolean packaged = from != null || mirror != null || !packages.isEmpty();
    if (packaged || !variant.equals(DebianRecipe.VARIANT)) {
      throw new UsageException(
          "-f cannot be combined with --from, --packages, --variant or --mirror",
          "name the base and the packages in the recipe");
    }
    adding.refuseLimits();
    return new RecipeBuild(
        context,
        name,
        RecipeFile.load(
            Arguments.hostPath("--file", recipe),
            Arguments.variables("--build-arg", arguments),
            images),
        provider,
        network == null ? NetworkMode.NONE : Arguments.network("--network", network));
  }

  private static void refuse(String needed, boolean given, String option) {
    if (given) {
      throw new UsageException(
          option + " applies to the steps of a recipe", "add " + needed + ", or omit " + option);
    }
  }

  private int fromPackages(boolean ready) {
    DebianRecipe recipe =
        DebianRecipe.of(
            from == null ? DebianRecipe.BASE_FROM : from,
            packages,
            variant,
            Optional.ofNullable(mirror));
    announce();
    return adding.add(context, name, ImageSource.debian(ready ? recipe.asReady(name) : recipe));
  }

  private void announce() {
    if (context.environment().tty().err() && !context.console().json()) {
      context.console().printErr("building " + name + " takes a minute or two; -v prints progress");
    }
  }

  private int readyOnServer(Images images) {
    adding.refuseLimits();
    if (from != null || mirror != null || !packages.isEmpty()) {
      throw new UsageException(
          "--from, --packages and --mirror build on this machine only",
          "add --local, or build from a recipe (-f)");
    }
    announce();
    return ImageAddOptions.print(
        context.console(),
        ImageReport.of(
            images.buildReady(
                name,
                name,
                adding.replace(),
                line -> ImageAddOptions.printProgress(context.console(), line.message()))));
  }
}
