package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Secrets;
import dev.isola.codec.json.Json;
import picocli.CommandLine.Command;

/** Implements {@code isola secrets rotate-key}. */
@Command(
    name = "rotate-key",
    description = {
      "Encrypt all secrets of the server with another key and drop the old one.",
      "A rotation that was interrupted continues. Back up the new key afterwards."
    })
final class SecretsRotateKeyCommand extends RemoteCommand {
  SecretsRotateKeyCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Secrets.KeyRotation rotation = isola.secrets().rotateKey();
    if (console.json()) {
      console.print(Json.object("keyId", rotation.keyId(), "values", rotation.values()));
    } else {
      console.print(
          "key " + rotation.keyId() + ": " + rotation.values() + " values encrypted again\n");
    }
    return ExitCodes.OK;
  }
}
