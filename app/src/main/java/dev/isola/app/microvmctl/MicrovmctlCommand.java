package dev.isola.app.microvmctl;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.HelpCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Implements {@code isola microvmctl}: groups the verbs and prints their help. */
@Command(
    name = MicrovmctlCommand.NAME,
    synopsisSubcommandLabel = "VERB",
    description = "Control sandboxes by the verbs of the local_microvm contract.",
    footer = {
      "",
      "Every verb but probe needs --id. A failure of microvmctl itself is exit code 125 and one"
          + " line of JSON on standard error; a command that timed out is exit code 124."
    })
public final class MicrovmctlCommand implements CliCommand {
  public static final String NAME = "microvmctl";

  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  private MicrovmctlCommand(CommandContext context) {
    this.context = context;
  }

  public static CommandLine commandLine(CommandContext context) {
    return new CommandLine(new MicrovmctlCommand(context))
        .addSubcommand(new CreateVerb(context))
        .addSubcommand(new CommandLine(new ExecVerb(context)).setStopAtPositional(true))
        .addSubcommand(new WriteVerb(context))
        .addSubcommand(new ReadVerb(context))
        .addSubcommand(new ListVerb(context))
        .addSubcommand(new KillVerb(context))
        .addSubcommand(new ProbeVerb(context))
        .addSubcommand(new ServeVerb(context));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), context);
  }
}
