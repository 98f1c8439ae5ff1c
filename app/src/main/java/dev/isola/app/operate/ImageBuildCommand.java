package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.UsageException;
import dev.isola.host.image.DebianRecipe;
import dev.isola.host.image.ImageSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image build}. */
@Command(
    name = "build",
    sortOptions = false,
    description = "Build an image from the packages of Debian or a derived distribution.",
    footer = {
      "%nThe image base needs no options: Debian bookworm with bash, python3, git, curl, sudo,",
      "ca-certificates and procps, and the user 'user' (UID 1000), which may use sudo.",
      "%nImages are built by mmdebstrap (root is not required) or debootstrap, from the package",
      "mirror of this machine."
    })
final class ImageBuildCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "NAME", description = "Name of the image.")
  private String name = "";

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

  ImageBuildCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    boolean base = name.equals(DebianRecipe.BASE);
    if (from == null && !base) {
      throw new UsageException(
          "the distribution to build " + name + " from is missing", "add --from debian:bookworm");
    }
    DebianRecipe recipe =
        DebianRecipe.of(
            from == null ? DebianRecipe.BASE_FROM : from,
            packages,
            variant,
            Optional.ofNullable(mirror));
    if (context.environment().tty().err() && !context.console().json()) {
      context.console().printErr("building " + name + " takes a minute or two; -v prints progress");
    }
    return adding.add(context, name, ImageSource.debian(base ? recipe.asBase() : recipe));
  }
}
