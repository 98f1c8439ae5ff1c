package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola image}: groups the image commands and prints their help. */
@Command(
    name = "image",
    synopsisSubcommandLabel = "COMMAND",
    description = "Import, pull, build, list, check and remove images.")
public final class ImageCommand implements CliCommand {
  private final CommandContext wiring;

  @Spec private @Nullable CommandSpec spec;

  private ImageCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  public static CommandLine commandLine(CommandContext wiring) {
    return new CommandLine(new ImageCommand(wiring))
        .addSubcommand(new ImageImportCommand(wiring))
        .addSubcommand(new ImagePullCommand(wiring))
        .addSubcommand(new ImageBuildCommand(wiring))
        .addSubcommand(new ImageListCommand(wiring))
        .addSubcommand(new ImageShowCommand(wiring))
        .addSubcommand(new ImageCheckCommand(wiring))
        .addSubcommand(new ImageRemoveCommand(wiring));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), wiring);
  }
}
