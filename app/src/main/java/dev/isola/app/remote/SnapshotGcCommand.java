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

  SnapshotGcCommand(CommandContext wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    Snapshots.GarbageCollectionResult back = isola.snapshots().collectGarbage();
    if (console.json()) {
      console.print(Map.of("packs", back.packs(), "bytes", back.bytes()));
    } else {
      console.print(CellFormat.size(back.bytes()) + " freed\n");
    }
    return ExitCodes.OK;
  }
}
