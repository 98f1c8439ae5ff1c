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
  private final CommandContext wiring;

  @Spec private @Nullable CommandSpec spec;

  private SnapshotCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  public static CommandLine commandLine(CommandContext wiring) {
    return new CommandLine(new SnapshotCommand(wiring))
        .addSubcommand(new SnapshotCreateCommand(wiring))
        .addSubcommand(new SnapshotListCommand(wiring))
        .addSubcommand(new SnapshotShowCommand(wiring))
        .addSubcommand(new SnapshotDiffCommand(wiring))
        .addSubcommand(new SnapshotRestoreCommand(wiring))
        .addSubcommand(new SnapshotRemoveCommand(wiring))
        .addSubcommand(new SnapshotGcCommand(wiring));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), wiring);
  }
}
