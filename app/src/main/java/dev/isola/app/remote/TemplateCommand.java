package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola template}: groups the template commands and prints their help. */
@Command(
    name = "template",
    synopsisSubcommandLabel = "COMMAND",
    description = "Build, list and remove templates on a server.")
public final class TemplateCommand implements CliCommand {
  private final CommandContext wiring;

  @Spec private @Nullable CommandSpec spec;

  private TemplateCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  public static CommandLine commandLine(CommandContext wiring) {
    return new CommandLine(new TemplateCommand(wiring))
        .addSubcommand(new TemplateBuildCommand(wiring))
        .addSubcommand(new TemplateListCommand(wiring))
        .addSubcommand(new TemplateShowCommand(wiring))
        .addSubcommand(new TemplateRemoveCommand(wiring));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), wiring);
  }
}
