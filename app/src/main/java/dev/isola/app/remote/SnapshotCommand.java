package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola snapshot}: groups the snapshot commands and prints their help. */
@Command(
    name = "snapshot",
    synopsisSubcommandLabel = "COMMAND",
    description = "Take, list, compare, restore and remove snapshots of a server.")
public final class SnapshotCommand implements CliCommand {
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private SnapshotCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new SnapshotCommand(context))
        .addSubcommand(new SnapshotCreateCommand(context))
        .addSubcommand(new SnapshotListCommand(context))
        .addSubcommand(new SnapshotShowCommand(context))
        .addSubcommand(new SnapshotDiffCommand(context))
        .addSubcommand(new SnapshotRestoreCommand(context))
        .addSubcommand(new SnapshotRemoveCommand(context))
        .addSubcommand(new SnapshotGcCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
