package dev.isola.app.remote;

import dev.isola.app.cli.Cells;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Wiring;
import dev.isola.client.Isola;
import dev.isola.client.Snapshots;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code isola snapshot gc}. */
@Command(name = "gc", description = "Free what no snapshot needs.")
final class SnapshotCollectCommand extends RemoteCommand {

  SnapshotCollectCommand(Wiring wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    Snapshots.Collected back = isola.snapshots().collect();
    if (console.json()) {
      console.print(Map.of("packs", back.packs(), "bytes", back.bytes()));
    } else {
      console.print(Cells.size(back.bytes()) + " came back\n");
    }
    return ExitCodes.OK;
  }
}
