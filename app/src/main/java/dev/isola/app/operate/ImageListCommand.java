package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola image list}. */
@Command(name = "list", description = "List images.")
final class ImageListCommand implements CliCommand {
  private final CommandContext context;

  ImageListCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    List<Image> images = new ImageStore(context.dataFolder().path()).list();
    if (console.json()) {
      console.print(Map.of("images", images.stream().map(ImageReport::json).toList()));
    } else if (images.isEmpty()) {
      console.print("no images; create one with isola image build base\n");
    } else {
      console.print(ImageReport.table(images));
    }
    return ExitCodes.OK;
  }
}
