package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.SandboxStatus;
import dev.isola.client.Usage;
import java.time.Instant;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola status}. */
@Command(
    name = "status",
    description = {
      "Print the state, health, resource usage and latest errors of a sandbox.",
      "Does not resume a suspended sandbox and does not count as use of it."
    })
public final class StatusCommand extends RemoteCommand {
  @Parameters(paramLabel = "ID", description = "Id, name, or first characters of the id.")
  private String id = "";

  public StatusCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    SandboxStatus status = sandbox(isola, id).status();
    if (console.json()) {
      console.print(status.document());
    } else {
      console.print(table(status, Instant.now()).text(console.columns()));
    }
    return ExitCodes.OK;
  }

  private static Table table(SandboxStatus status, Instant now) {
    Table table = new Table();
    table.row("id", status.id());
    table.row("provider", CellFormat.text(status.provider()));
    status.containerId().ifPresent(text -> table.row("container", CellFormat.text(text)));
    table.row("state", CellFormat.text(status.state()));
    table.row(
        "health",
        CellFormat.text(status.health() + status.reason().map(why -> ": " + why).orElse("")));
    status
        .cpu()
        .ifPresent(
            load ->
                table.row(
                    "cpu",
                    String.format(
                        Locale.ROOT,
                        "%.1f%% over %.1f s",
                        load.percent(),
                        load.interval().toMillis() / 1000.0)));
    status.usage().ifPresent(usage -> addUsage(table, usage));
    table.row("last used", CellFormat.age(status.lastActivity(), now) + " ago");
    for (SandboxStatus.RecentError error : status.errors()) {
      table.row(
          "error",
          error.at()
              + " "
              + CellFormat.text(error.code() + " " + error.operation() + ": " + error.message()));
    }
    return table;
  }

  private static void addUsage(Table table, Usage usage) {
    table.row(
        "memory",
        CellFormat.size(usage.memoryBytes())
            + ", peak "
            + CellFormat.size(usage.memoryPeakBytes()));
    usage.diskBytes().ifPresent(bytes -> table.row("disk", CellFormat.size(bytes)));
    usage.receivedBytes().ifPresent(bytes -> table.row("received", CellFormat.size(bytes)));
    usage.sentBytes().ifPresent(bytes -> table.row("sent", CellFormat.size(bytes)));
    table.row("processes", Long.toString(usage.processes()));
    table.row("uptime", CellFormat.duration(usage.uptime()));
  }
}
