package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image show}. */
@Command(name = "show", description = "Print the details of an image.")
final class ImageShowCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "NAME", description = "The image.")
  private String name = "";

  ImageShowCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    Image image = new ImageStore(context.dataFolder().path()).require(name);
    if (console.json()) {
      console.print(Map.of("image", ImageReport.json(image)));
    } else {
      console.print(ImageReport.text(image));
    }
    return ExitCodes.OK;
  }
}
