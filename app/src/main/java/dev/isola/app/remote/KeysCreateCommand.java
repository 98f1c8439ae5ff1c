package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.ApiKeys;
import dev.isola.client.Isola;
import dev.isola.codec.json.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola keys create}. */
@Command(
    name = "create",
    description = "Create an API key and print it. It cannot be printed again.")
final class KeysCreateCommand extends RemoteCommand {
  @Option(
      names = "--scope",
      paramLabel = "SCOPE",
      description = "Scope of the key: read, use or admin. Default: use.")
  private String scope = "use";

  @Option(
      names = "--e2b",
      description =
          "Print the key in the form that E2B's SDKs require, e2b_ and hexadecimal digits. The"
              + " server accepts every key in both forms.")
  private boolean e2b;

  @Option(
      names = "--strict-no-fallback",
      description =
          "Create every sandbox of the key with the provider that the request names, or not at"
              + " all.")
  private boolean strict;

  @Parameters(paramLabel = "NAME", description = "Name of the key: letters, digits, - and _.")
  private String name = "";

  KeysCreateCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    ApiKeys.CreatedKey created = isola.keys().create(name, scope, strict);
    String key = e2b ? created.key().replaceFirst("^isk_", "e2b_") : created.key();
    if (console.json()) {
      console.print(Json.object("name", created.name(), "scope", created.scope(), "key", key));
    } else {
      console.print(key + "\n");
    }
    return ExitCodes.OK;
  }
}
