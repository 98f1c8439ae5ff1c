package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.ApiKeys;
import dev.isola.client.Isola;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola keys update}. */
@Command(name = "update", description = "Change the policy of an API key.")
final class KeysUpdateCommand extends RemoteCommand {
  @Option(
      names = "--strict-no-fallback",
      arity = "1",
      paramLabel = "true|false",
      required = true,
      description =
          "Whether every sandbox of the key is created with the provider that the request names, or"
              + " not at all.")
  private boolean strict;

  @Parameters(paramLabel = "NAME", description = "Name of the key.")
  private String name = "";

  KeysUpdateCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    ApiKeys.ApiKey key = isola.keys().update(name, strict);
    if (console.json()) {
      console.print(key.document());
    }
    return ExitCodes.OK;
  }
}
