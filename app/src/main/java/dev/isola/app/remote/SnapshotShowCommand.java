package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.SnapshotInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola snapshot show}. */
@Command(name = "show", description = "Print the details of a snapshot.")
final class SnapshotShowCommand extends RemoteCommand {
  @Parameters(paramLabel = "SNAPSHOT", description = "Id of the snapshot.")
  private String snapshot = "";

  SnapshotShowCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    SnapshotInfo info = isola.snapshots().get(snapshot);
    if (console.json()) {
      console.print(info.document());
      return ExitCodes.OK;
    }
    Table table = new Table();
    info.document()
        .forEach(
            (name, value) ->
                table.row(
                    CellFormat.text(name),
                    name.equals("tags")
                        ? VisibleTags.text(info.tags())
                        : CellFormat.text(String.valueOf(value))));
    console.print(table.text(console.columns()));
    return ExitCodes.OK;
  }
}
