package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola keys}: groups the key commands and prints their help. */
@Command(
    name = "keys",
    synopsisSubcommandLabel = "COMMAND",
    description = "List, create, change and revoke API keys of a server.")
public final class KeysCommand implements CliCommand {
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private KeysCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new KeysCommand(context))
        .addSubcommand(new KeysListCommand(context))
        .addSubcommand(new KeysCreateCommand(context))
        .addSubcommand(new KeysUpdateCommand(context))
        .addSubcommand(new KeysRemoveCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
