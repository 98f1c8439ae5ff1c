package dev.isola.app.cli;

import dev.isola.document.field.Suggestion;
import java.util.ArrayList;
import java.util.List;
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

  @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command to describe.")
  private List<String> words = new ArrayList<>();

  public HelpCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    CommandLine target = spec.root().commandLine();
    for (String word : words) {
      CommandLine next = target.getSubcommands().get(word);
      if (next == null) {
        List<String> close = Suggestion.candidates(word, target.getSubcommands().keySet(), 1);
        throw new UsageException(
            "unknown command '" + String.join(" ", words) + "'",
            close.isEmpty() ? "see isola help" : "did you mean " + close.getFirst() + "?");
      }
      target = next;
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
