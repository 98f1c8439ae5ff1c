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

/** Implements {@code isola snapshot rm}. */
@Command(name = "rm", description = "Remove snapshots. isola snapshot gc frees their space.")
final class SnapshotRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "SNAPSHOT", arity = "1..*", description = "Ids of the snapshots.")
  private List<String> snapshots = new ArrayList<>();

  SnapshotRemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    for (String id : snapshots) {
      isola.snapshots().remove(id);
      console.print(CellFormat.text(id) + "\n");
    }
    return ExitCodes.OK;
  }
}
