package dev.isola.app.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Implements {@code isola help}. */
@Command(name = "help", description = "Print help for isola or for one command.")
public final class HelpCommand implements CliCommand {
  private static final int WIDTH = 100;

  private final CommandContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "COMMAND", arity = "0..1", description = "The command to describe.")
  private @Nullable String command;

  public HelpCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    CommandLine root = spec.root().commandLine();
    CommandLine target = command == null ? root : root.getSubcommands().get(command);
    if (target == null) {
      throw new UsageException("unknown command '" + command + "'", "see isola help");
    }
    return show(target, context);
  }

  public static int show(CommandLine line, CommandContext context) {
    Console console = context.console();
    Help.Ansi ansi = console.color() ? Help.Ansi.ON : Help.Ansi.OFF;
    line.setUsageHelpWidth(WIDTH);
    console.print(line.getUsageMessage(ansi));
    return ExitCodes.OK;
  }
}
