package dev.isola.app.operate;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageLimits;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options shared by the commands that add an image. */
final class ImageAddOptions {
  @Option(names = "--replace", description = "Replace an existing image of the same name.")
  private boolean replace;

  @Option(
      names = "--max-size",
      paramLabel = "SIZE",
      description = "Maximum unpacked size: 500M, 20G or bytes. Default: 64G.")
  private @Nullable String maxSize;

  @Option(
      names = "--max-files",
      paramLabel = "N",
      description = "Maximum number of files, folders and links. Default: 4000000.")
  private @Nullable String maxFiles;

  /** Adds the image and prints it. */
  int add(CommandContext context, String name, ImageSource source) {
    Console console = context.console();
    Image image =
        new ImageStore(context.dataFolder().createIfMissing())
            .add(
                name,
                source,
                new ImageStore.AddOptions(limits(), replace, line -> printProgress(console, line)));
    if (console.json()) {
      console.print(Map.of("image", ImageReport.json(image)));
    } else {
      console.print(ImageReport.line(image));
      image.notes().forEach(note -> console.printErr("note: " + note));
    }
    return ExitCodes.OK;
  }

  private static void printProgress(Console console, String line) {
    if (console.verbose()) {
      console.printErr(line);
    }
  }

  private ImageLimits limits() {
    return new ImageLimits(
        maxSize == null ? ImageLimits.DEFAULT.bytes() : Arguments.size("--max-size", maxSize),
        maxFiles == null
            ? ImageLimits.DEFAULT.entries()
            : Arguments.count("--max-files", maxFiles, "files"));
  }
}
