package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.host.image.ImageSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image pull}. */
@Command(
    name = "pull",
    sortOptions = false,
    description = "Make an image from what a registry, an archive or an OCI layout holds.",
    footer = {
      "%nSources:",
      "  oci:DIR[:TAG]                 an OCI layout",
      "  docker-archive:FILE           what docker save wrote",
      "  debian:12, docker://HOST/...  a name at a registry",
      "All but the first are fetched by skopeo, with its settings and credentials."
    })
final class ImagePullCommand implements CliCommand {
  private final CommandContext wiring;

  @Parameters(index = "0", paramLabel = "NAME", description = "What the image is to be called.")
  private String name = "";

  @Parameters(index = "1", paramLabel = "SOURCE", description = "Where it is now; see below.")
  private String source = "";

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();

  ImagePullCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    return adding.add(wiring, name, ImageSource.reference(source));
  }
}
