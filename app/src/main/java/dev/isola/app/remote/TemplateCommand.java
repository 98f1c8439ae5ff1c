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
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private TemplateCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new TemplateCommand(context))
        .addSubcommand(new TemplateBuildCommand(context))
        .addSubcommand(new TemplateListCommand(context))
        .addSubcommand(new TemplateShowCommand(context))
        .addSubcommand(new TemplateRemoveCommand(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
