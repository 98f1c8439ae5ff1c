package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.Secrets.SecretInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola secrets show}. */
@Command(name = "show", description = "Describe a secret, without its value.")
final class SecretsShowCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", description = "Name of the secret.")
  private String name = "";

  SecretsShowCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    SecretInfo secret = isola.secrets().get(name);
    if (console.json()) {
      console.print(secret.document());
      return ExitCodes.OK;
    }
    console.print(
        new Table()
            .row("name", CellFormat.text(secret.name()))
            .row("hosts", CellFormat.text(String.join(", ", secret.hosts())))
            .row(
                "keys",
                secret.keys().isEmpty() ? "all" : CellFormat.text(String.join(", ", secret.keys())))
            .row("placeholder", CellFormat.text(secret.placeholder()))
            .row("created", secret.createdAt().toString())
            .row("updated", secret.updatedAt().toString())
            .fitted(console.columns()));
    return ExitCodes.OK;
  }
}
