package dev.isola.app.image;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.Images;
import dev.isola.host.image.ImageSource;
import org.jspecify.annotations.Nullable;
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

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SOURCE",
      description = "Source of the image; see below. Default: the image NAME in a registry.")
  private @Nullable String source;

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();
  @Mixin private final ImagePlace place = new ImagePlace();

  ImagePullCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return place.run(
        context,
        store -> adding.add(context, name, ImageSource.reference(reference())),
        this::pull);
  }

  private String reference() {
    return source == null ? name : source;
  }

  private int pull(Images images) {
    adding.refuseLimits();
    Console console = context.console();
    return ImageAddOptions.print(
        console,
        ImageReport.of(
            images.pull(
                name,
                reference(),
                adding.replace(),
                line -> ImageAddOptions.printProgress(console, line))));
  }
}
