package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.SnapshotInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola snapshot ls}. */
@Command(name = "ls", description = "List snapshots, oldest first.")
final class SnapshotListCommand extends RemoteCommand {
  /** Begins the tags that only the engine sets: those of the cached steps of builds. */
  private static final String ENGINE_TAG = "isola.";

  @Option(names = "--all", description = "Also list the cached steps of image and template builds.")
  private boolean everything;

  SnapshotListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<SnapshotInfo> stored = isola.snapshots().list();
    List<SnapshotInfo> all =
        stored.stream().filter(snapshot -> everything || !isBuildStep(snapshot)).toList();
    if (console.json()) {
      console.print(Map.of("snapshots", all.stream().map(SnapshotInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (all.size() < stored.size()) {
      console.printErr(
          "note: "
              + (stored.size() - all.size())
              + " cached steps of builds are not listed; --all lists them");
    }
    if (all.isEmpty()) {
      console.print("no snapshots; take one with isola snapshot create SANDBOX\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table =
        new Table().row("ID", "SANDBOX", "PROVIDER", "KIND", "FILES", "SIZE", "STORED", "TAKEN");
    for (SnapshotInfo snapshot : all) {
      table.row(
          CellFormat.text(snapshot.id()),
          CellFormat.text(snapshot.sandbox()),
          CellFormat.text(snapshot.provider()),
          CellFormat.text(snapshot.kind()),
          Long.toString(snapshot.files()),
          CellFormat.size(snapshot.bytes()),
          CellFormat.size(snapshot.storedBytes()),
          CellFormat.age(snapshot.createdAt(), now) + " ago");
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }

  private static boolean isBuildStep(SnapshotInfo snapshot) {
    return snapshot.tags().keySet().stream().anyMatch(name -> name.startsWith(ENGINE_TAG));
  }
}
