package dev.isola.app.image;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Images;
import dev.isola.host.image.ImageSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image import}. */
@Command(
    name = "import",
    sortOptions = false,
    description = "Create an image from a root file system in a tar archive or a folder.")
final class ImageImportCommand implements CliCommand {
  private static final String STDIN = "-";

  private final CommandContext context;

  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the image.")
  private String name = "";

  @Parameters(
      index = "1",
      paramLabel = "SOURCE",
      description = "Tar archive (plain, gzip, zstd, xz, bzip2), folder, or - for stdin.")
  private String source = "";

  @Mixin private final ImageAddOptions adding = new ImageAddOptions();
  @Mixin private final ImagePlace place = new ImagePlace();

  ImageImportCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return place.run(
        context,
        store ->
            adding.add(
                context,
                name,
                source.equals(STDIN)
                    ? ImageSource.tar(context.environment().in(), "standard input")
                    : ImageSource.path(Arguments.hostPath("SOURCE", source))),
        this::upload);
  }

  private int upload(Images images) {
    adding.refuseLimits();
    if (source.equals(STDIN)) {
      return upload(images, context.environment().in());
    }
    Path path = Arguments.hostPath("SOURCE", source);
    if (Files.isDirectory(path)) {
      throw new UsageException(
          "a folder cannot be imported into a server",
          "send an archive: tar -C " + path + " -c . | isola image import " + name + " -");
    }
    try (InputStream archive = Files.newInputStream(path)) {
      return upload(images, archive);
    } catch (IOException e) {
      throw new UsageException(path + " cannot be read", "name a tar archive, or - for stdin");
    }
  }

  private int upload(Images images, InputStream archive) {
    return ImageAddOptions.print(
        context.console(), ImageReport.of(images.importArchive(name, archive, adding.replace())));
  }
}
