package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola volume rm}. */
@Command(name = "rm", description = "Remove volumes with their files.")
final class VolumeRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of the volumes.")
  private List<String> names = new ArrayList<>();

  VolumeRemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    for (String name : names) {
      isola.volumes().remove(name);
      console.print(CellFormat.text(name) + "\n");
    }
    return ExitCodes.OK;
  }
}
