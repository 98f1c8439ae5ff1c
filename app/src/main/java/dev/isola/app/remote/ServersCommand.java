package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.ServerInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola servers}. */
@Command(name = "servers", description = "List the servers that share a ledger.")
public final class ServersCommand extends RemoteCommand {
  public ServersCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<ServerInfo> servers = isola.servers();
    if (console.json()) {
      console.print(Map.of("servers", servers.stream().map(ServerInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (servers.isEmpty()) {
      console.print("the server has its ledger to itself\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("NAME", "URL", "VERSION", "STARTED", "LEASE");
    for (ServerInfo server : servers) {
      table.row(
          CellFormat.text(server.name()),
          CellFormat.text(server.url()),
          CellFormat.text(server.version()),
          CellFormat.age(server.startedAt(), now) + " ago",
          server.alive() ? "valid" : "ended");
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
