package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.host.image.ImageStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image remove}. */
@Command(name = "remove", description = "Remove images. Fails for images that sandboxes use.")
final class ImageRemoveCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Images to remove.")
  private List<String> names = new ArrayList<>();

  ImageRemoveCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    ImageStore images = new ImageStore(context.dataFolder().path());
    names.forEach(images::require); // an unknown name fails before anything is removed
    names.stream().distinct().forEach(images::remove);
    if (console.json()) {
      console.print(Map.of("removed", names));
    }
    return ExitCodes.OK;
  }
}
