package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola completion}. */
@Command(
    name = "completion",
    description = "Print a completion script for bash and zsh.",
    footer = {"%nTo enable it:", "  source <(isola completion)"})
final class CompletionCommand implements CliCommand {
  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  CompletionCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    context.console().print(AutoComplete.bash("isola", spec.root().commandLine()));
    return ExitCodes.OK;
  }
}
