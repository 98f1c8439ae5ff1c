package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.Secrets.SecretInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola secrets ls}. */
@Command(name = "ls", description = "List secrets, without their values.")
final class SecretsListCommand extends RemoteCommand {
  SecretsListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<SecretInfo> secrets = isola.secrets().list();
    if (console.json()) {
      console.print(Map.of("secrets", secrets.stream().map(SecretInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (secrets.isEmpty()) {
      console.print("no secrets; store one with isola secrets set NAME --host HOST\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("NAME", "HOSTS", "KEYS", "UPDATED");
    for (SecretInfo secret : secrets) {
      table.row(
          CellFormat.text(secret.name()),
          CellFormat.text(String.join(",", secret.hosts())),
          secret.keys().isEmpty() ? "all" : CellFormat.text(String.join(",", secret.keys())),
          CellFormat.age(secret.updatedAt(), now) + " ago");
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
