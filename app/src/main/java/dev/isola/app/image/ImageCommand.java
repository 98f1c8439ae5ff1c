package dev.isola.app.image;

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
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private ImageCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new ImageCommand(context))
        .addSubcommand(new ImageImportCommand(context))
        .addSubcommand(new ImagePullCommand(context))
        .addSubcommand(new ImageBuildCommand(context))
        .addSubcommand(new ImageListCommand(context))
        .addSubcommand(new ImageShowCommand(context))
        .addSubcommand(new ImageCheckCommand(context))
        .addSubcommand(new ImageRemoveCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
