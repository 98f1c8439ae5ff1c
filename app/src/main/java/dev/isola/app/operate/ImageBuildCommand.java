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
    description = "Build an image from the packages of Debian or a distribution like it.",
    footer = {
      "%nThe image called base needs nothing more: Debian bookworm with bash, python3, git, curl,",
      "sudo, ca-certificates and procps, and the user 'user' (1000), who may become root.",
      "%nIt is put together by mmdebstrap (also without root) or debootstrap, from the mirror that",
      "this machine itself uses."
    })
final class ImageBuildCommand implements CliCommand {
  private final CommandContext wiring;

  @Parameters(paramLabel = "NAME", description = "What the image is to be called.")
  private String name = "";

  @Option(
      names = "--from",
      paramLabel = "DISTRO:SUITE",
      description = "What to build from, such as debian:bookworm.")
  private @Nullable String from;

  @Option(
      names = "--packages",
      paramLabel = "NAME",
      split = ",",
      description = "Further packages; repeatable, or with commas.")
  private List<String> packages = new ArrayList<>();

  @Option(
      names = "--variant",
      paramLabel = "VARIANT",
      description = "How much there is at least (${DEFAULT-VALUE}).")
  private String variant = DebianRecipe.VARIANT;

  @Option(
      names = "--mirror",
      paramLabel = "URL",
      description = "Where the packages are; this machine's own mirror by default.")
  private @Nullable String mirror;

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();

  ImageBuildCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    boolean base = name.equals(DebianRecipe.BASE);
    if (from == null && !base) {
      throw new UsageException(
          "nothing says what to build " + name + " from", "add --from debian:bookworm");
    }
    DebianRecipe recipe =
        DebianRecipe.of(
            from == null ? DebianRecipe.BASE_FROM : from,
            packages,
            variant,
            Optional.ofNullable(mirror));
    if (wiring.environment().tty().err() && !wiring.console().json()) {
      wiring.console().printErr("building " + name + " takes a minute or two; -v shows more");
    }
    return adding.add(wiring, name, ImageSource.debian(base ? recipe.asBase() : recipe));
  }
}
