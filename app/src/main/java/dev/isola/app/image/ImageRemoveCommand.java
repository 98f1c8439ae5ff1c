package dev.isola.app.image;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image rm}. */
@Command(
    name = "rm",
    aliases = "remove",
    description = "Remove images. Fails for images that sandboxes use.")
final class ImageRemoveCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Images to remove.")
  private List<String> names = new ArrayList<>();

  @Mixin private final ImagePlace place = new ImagePlace();

  ImageRemoveCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    // An unknown name fails before anything is removed.
    return place.run(
        context,
        store -> {
          names.forEach(store::require);
          return remove(store::remove);
        },
        images -> {
          names.forEach(images::get);
          return remove(images::remove);
        });
  }

  private int remove(Consumer<String> remover) {
    names.stream().distinct().forEach(remover);
    Console console = context.console();
    if (console.json()) {
      console.print(Map.of("removed", names));
    }
    return ExitCodes.OK;
  }
}
