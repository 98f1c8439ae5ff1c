package dev.isola.app.image;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.host.image.ImageLimits;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.InstanceId;
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

  boolean replace() {
    return replace;
  }

  /** Adds the image to those of this machine and prints it. */
  int add(CommandContext context, String name, ImageSource source) {
    Console console = context.console();
    DataFolder data = context.dataFolder();
    InstanceId _ = data.instance(); // isola purge removes a folder only if it has an id
    return print(
        console,
        ImageReport.of(
            new ImageStore(data.path())
                .add(
                    name,
                    source,
                    new ImageStore.AddOptions(
                        limits(), replace, line -> printProgress(console, line)))));
  }

  /** Prints an image that was added. */
  static int print(Console console, ImageReport image) {
    if (console.json()) {
      console.print(Map.of("image", image.json()));
    } else {
      console.print(image.line());
      image.notes().forEach(note -> console.printErr("note: " + note));
    }
    return ExitCodes.OK;
  }

  static void printProgress(Console console, String line) {
    if (console.verbose()) {
      console.printErr(line);
    }
  }

  /** Rejects the limits, which a server sets itself. */
  void refuseLimits() {
    if (maxSize != null || maxFiles != null) {
      throw new UsageException(
          "--max-size and --max-files apply to images of this machine only",
          "omit them, or add --local");
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
