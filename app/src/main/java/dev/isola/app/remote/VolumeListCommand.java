package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.VolumeInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola volume ls}. */
@Command(name = "ls", description = "List volumes, sorted by name.")
final class VolumeListCommand extends RemoteCommand {

  VolumeListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<VolumeInfo> all = isola.volumes().list();
    if (console.json()) {
      console.print(Map.of("volumes", all.stream().map(VolumeInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (all.isEmpty()) {
      console.print("no volumes; create one with isola volume create NAME\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("NAME", "PROVIDER", "STATE", "CREATED");
    for (VolumeInfo volume : all) {
      table.row(
          CellFormat.text(volume.name()),
          CellFormat.text(volume.provider().isEmpty() ? "-" : volume.provider()),
          CellFormat.text(volume.state()),
          CellFormat.age(volume.createdAt(), now) + " ago");
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
