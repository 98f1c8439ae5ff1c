package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.ImageInfo;
import dev.isola.client.Isola;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola commit}. */
@Command(
    name = "commit",
    sortOptions = false,
    description = {
      "Make an image of the files of a sandbox.",
      "Volumes, a workspace on the host and the variables of the sandbox are left out. Stop commands"
          + " that write files first."
    })
public final class CommitCommand extends RemoteCommand {
  @Parameters(index = "0", paramLabel = "ID", description = "The sandbox.")
  private String sandbox = "";

  @Parameters(index = "1", paramLabel = "NAME", description = "Name of the new image.")
  private String name = "";

  @Option(names = "--replace", description = "Replace an existing image of the same name.")
  private boolean replace;

  public CommitCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    ImageInfo image = isola.images().commit(sandbox(isola, sandbox).id(), name, replace);
    if (console.json()) {
      console.print(Map.of("image", image.document()));
    } else {
      console.print(CellFormat.text(image.name()) + ": " + CellFormat.size(image.size()) + "\n");
    }
    return ExitCodes.OK;
  }
}
