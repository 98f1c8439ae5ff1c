package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Snapshots;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola snapshot diff}. */
@Command(
    name = "diff",
    description =
        "List files that were added (+), changed (*) and removed (-) between two snapshots.")
final class SnapshotDiffCommand extends RemoteCommand {
  @Parameters(index = "0", paramLabel = "FROM", description = "The earlier snapshot.")
  private String from = "";

  @Parameters(index = "1", paramLabel = "TO", description = "The later snapshot.")
  private String to = "";

  SnapshotDiffCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Snapshots.SnapshotDiff diff = isola.snapshots().diff(from, to);
    if (console.json()) {
      console.print(
          Map.of("added", diff.added(), "changed", diff.changed(), "removed", diff.removed()));
      return ExitCodes.OK;
    }
    StringBuilder text = new StringBuilder();
    diff.added().forEach(path -> text.append("+ ").append(CellFormat.text(path)).append('\n'));
    diff.changed().forEach(path -> text.append("* ").append(CellFormat.text(path)).append('\n'));
    diff.removed().forEach(path -> text.append("- ").append(CellFormat.text(path)).append('\n'));
    console.print(text.toString());
    return ExitCodes.OK;
  }
}
