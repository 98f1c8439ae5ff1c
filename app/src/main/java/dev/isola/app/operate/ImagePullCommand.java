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
    description = "Create an image from a registry, an archive or an OCI layout.",
    footer = {
      "%nSources:",
      "  oci:DIR[:TAG]                 an OCI layout",
      "  docker-archive:FILE           an archive written by docker save",
      "  debian:12, docker://HOST/...  an image in a registry",
      "All except OCI layouts are fetched by skopeo, with its settings and credentials."
    })
final class ImagePullCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the image.")
  private String name = "";

  @Parameters(index = "1", paramLabel = "SOURCE", description = "Source of the image; see below.")
  private String source = "";

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();

  ImagePullCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return adding.add(context, name, ImageSource.reference(source));
  }
}
