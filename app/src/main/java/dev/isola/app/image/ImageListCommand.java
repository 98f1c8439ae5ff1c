package dev.isola.app.image;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Implements {@code isola image ls}. */
@Command(name = "ls", aliases = "list", description = "List images with their sizes.")
final class ImageListCommand implements CliCommand {
  private final CommandContext context;

  @Mixin private final ImagePlace place = new ImagePlace();

  ImageListCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    return place.run(
        context,
        store -> print(store.list().stream().map(ImageReport::of).toList()),
        images -> print(images.list().stream().map(ImageReport::of).toList()));
  }

  private int print(List<ImageReport> images) {
    Console console = context.console();
    if (console.json()) {
      console.print(Map.of("images", images.stream().map(ImageReport::json).toList()));
    } else if (images.isEmpty()) {
      console.print("no images; create one with isola image build base\n");
    } else {
      console.print(ImageReport.table(images).fitted(console.columns()));
    }
    return ExitCodes.OK;
  }
}
