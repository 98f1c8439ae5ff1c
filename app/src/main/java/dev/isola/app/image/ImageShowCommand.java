package dev.isola.app.image;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image show}. */
@Command(name = "show", description = "Print the details of an image.")
final class ImageShowCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "NAME", description = "The image.")
  private String name = "";

  @Mixin private final ImagePlace place = new ImagePlace();

  ImageShowCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return place.run(
        context,
        store -> print(ImageReport.of(store.require(name))),
        images -> print(ImageReport.of(images.get(name))));
  }

  private int print(ImageReport image) {
    Console console = context.console();
    if (console.json()) {
      console.print(Map.of("image", image.json()));
    } else {
      console.print(image.text());
    }
    return ExitCodes.OK;
  }
}
