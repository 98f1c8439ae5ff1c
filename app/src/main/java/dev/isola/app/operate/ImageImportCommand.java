package dev.isola.app.operate;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.host.image.ImageSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image import}. */
@Command(
    name = "import",
    sortOptions = false,
    description = "Create an image from a root file system in a tar archive or a folder.")
final class ImageImportCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the image.")
  private String name = "";

  @Parameters(
      index = "1",
      paramLabel = "SOURCE",
      description = "Tar archive (plain, gzip, zstd, xz, bzip2), folder, or - for stdin.")
  private String source = "";

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();

  ImageImportCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return adding.add(
        context,
        name,
        source.equals("-")
            ? ImageSource.tar(context.environment().in(), "standard input")
            : ImageSource.path(Arguments.hostPath("SOURCE", source)));
  }
}
