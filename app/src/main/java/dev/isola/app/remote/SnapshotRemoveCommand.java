package dev.isola.app.remote;

import dev.isola.app.cli.Cells;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Wiring;
import dev.isola.client.Isola;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code isola snapshot rm}. */
@Command(name = "rm", description = "Remove snapshots; gc frees their space.")
final class SnapshotRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "SNAPSHOT", arity = "1..*", description = "The snapshots.")
  private List<String> snapshots = new ArrayList<>();

  SnapshotRemoveCommand(Wiring wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    for (String one : snapshots) {
      isola.snapshots().remove(one);
      console.print(Cells.text(one) + "\n");
    }
    return ExitCodes.OK;
  }
}
