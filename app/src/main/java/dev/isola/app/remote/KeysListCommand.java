package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.ApiKeys.ApiKey;
import dev.isola.client.Isola;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola keys ls}. */
@Command(name = "ls", description = "List API keys, without their secrets.")
final class KeysListCommand extends RemoteCommand {
  KeysListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<ApiKey> keys = isola.keys().list();
    if (console.json()) {
      console.print(Map.of("keys", keys.stream().map(ApiKey::document).toList()));
      return ExitCodes.OK;
    }
    if (keys.isEmpty()) {
      console.print("no keys in the ledger; create one with isola keys create NAME\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("NAME", "SCOPE", "CREATED", "LAST USED");
    for (ApiKey key : keys) {
      table.row(
          CellFormat.text(key.name()),
          CellFormat.text(key.scope()),
          CellFormat.age(key.createdAt(), now) + " ago",
          key.lastUsedAt().map(at -> CellFormat.age(at, now) + " ago").orElse("never"));
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
