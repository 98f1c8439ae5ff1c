package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Snapshots;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola snapshot gc}. */
@Command(name = "gc", description = "Free data that no snapshot references.")
final class SnapshotGcCommand extends RemoteCommand {

  SnapshotGcCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Snapshots.GarbageCollectionResult result = isola.snapshots().collectGarbage();
    if (console.json()) {
      console.print(Map.of("packs", result.packs(), "bytes", result.bytes()));
    } else {
      console.print(CellFormat.size(result.bytes()) + " freed\n");
    }
    return ExitCodes.OK;
  }
}
