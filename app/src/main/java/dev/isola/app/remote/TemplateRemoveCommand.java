package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola template rm}. */
@Command(name = "rm", description = "Remove templates with their images and builds.")
final class TemplateRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of the templates.")
  private List<String> names = new ArrayList<>();

  TemplateRemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    for (String name : names) {
      isola.templates().remove(name);
      console.print(CellFormat.text(name) + "\n");
    }
    return ExitCodes.OK;
  }
}
