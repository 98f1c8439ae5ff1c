package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.VolumeInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola volume create}. */
@Command(name = "create", description = "Create a volume and print its name.")
final class VolumeCreateCommand extends RemoteCommand {
  @Option(
      names = "--provider",
      paramLabel = "P",
      description = "Provider that stores the files. Default: chosen by the server.")
  private String provider = "";

  @Parameters(
      paramLabel = "NAME",
      description = "Name of the volume: letters, digits, . _ and -, at most 128.")
  private String name = "";

  VolumeCreateCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    VolumeInfo created = isola.volumes().create(name, provider);
    if (console.json()) {
      console.print(created.document());
    } else {
      console.print(CellFormat.text(created.name()) + "\n");
    }
    return ExitCodes.OK;
  }
}
