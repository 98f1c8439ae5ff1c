package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.FileInfo;
import dev.isola.client.Isola;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola volume files}. */
@Command(name = "files", description = "List a folder of a volume.")
final class VolumeFilesCommand extends RemoteCommand {
  @Parameters(index = "0", paramLabel = "NAME", description = "Name of the volume.")
  private String name = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "PATH",
      description = "Folder in the volume. Default: its root.")
  private String path = ".";

  VolumeFilesCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<FileInfo> files = isola.volumes().files(name).list(path);
    if (console.json()) {
      console.print(Map.of("entries", files.stream().map(FileInfo::document).toList()));
      return ExitCodes.OK;
    }
    Table table = new Table().row("TYPE", "SIZE", "PATH");
    for (FileInfo file : files) {
      table.row(
          CellFormat.text(file.type()), CellFormat.size(file.size()), CellFormat.text(file.path()));
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
