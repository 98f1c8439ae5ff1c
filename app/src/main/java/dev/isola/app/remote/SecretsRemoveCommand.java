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

/** Implements {@code isola secrets rm}. */
@Command(
    name = "rm",
    description = "Remove secrets. Sandboxes that use them keep running without the values.")
final class SecretsRemoveCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of the secrets.")
  private List<String> names = new ArrayList<>();

  SecretsRemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    names.stream().distinct().forEach(isola.secrets()::remove);
    if (console.json()) {
      console.print(Map.of("removed", names));
    }
    return ExitCodes.OK;
  }
}
