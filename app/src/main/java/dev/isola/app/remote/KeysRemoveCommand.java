package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola keys rm}. */
@Command(name = "rm", description = "Revoke API keys immediately.")
final class KeysRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of the keys.")
  private List<String> names = new ArrayList<>();

  KeysRemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    names.stream().distinct().forEach(isola.keys()::revoke);
    if (console.json()) {
      console.print(Map.of("removed", names));
    }
    return ExitCodes.OK;
  }
}
