package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola volume}: groups the volume commands and prints their help. */
@Command(
    name = "volume",
    synopsisSubcommandLabel = "COMMAND",
    description = "Create, list and remove volumes on a server, and copy their files.")
public final class VolumeCommand implements CliCommand {
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private VolumeCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new VolumeCommand(context))
        .addSubcommand(new VolumeCreateCommand(context))
        .addSubcommand(new VolumeListCommand(context))
        .addSubcommand(new VolumeFilesCommand(context))
        .addSubcommand(new VolumeCopyCommand(context))
        .addSubcommand(new VolumeRemoveCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
