package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola secrets}: groups the commands for secrets and prints their help. */
@Command(
    name = "secrets",
    synopsisSubcommandLabel = "COMMAND",
    description = "Store, list and remove secrets of a server that sandboxes use without seeing.")
public final class SecretsCommand implements CliCommand {
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private SecretsCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new SecretsCommand(context))
        .addSubcommand(new SecretsListCommand(context))
        .addSubcommand(new SecretsSetCommand(context))
        .addSubcommand(new SecretsShowCommand(context))
        .addSubcommand(new SecretsRemoveCommand(context))
        .addSubcommand(new SecretsRotateKeyCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
