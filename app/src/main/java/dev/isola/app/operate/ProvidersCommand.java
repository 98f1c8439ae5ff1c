package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.ProviderReport;
import dev.isola.app.cli.Providers;
import dev.isola.app.cli.Table;
import dev.isola.app.remote.ServerOptions;
import dev.isola.spi.Health;
import dev.isola.spi.provider.ProviderInfo;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Implements {@code isola providers}. */
@Command(
    name = "providers",
    description = {
      "List providers with status, isolation, enforced limits and capabilities.",
      "Those of this machine, or with --server or --context those of a server."
    })
public final class ProvidersCommand implements CliCommand {
  private final CommandContext context;
  @Mixin private final ServerOptions server = new ServerOptions();

  public ProvidersCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    if (server.isGiven()) {
      return new ServerProviders(server.resolve(context.environment().variables())).print(console);
    }
    try (Providers providers = context.providers()) {
      List<ProviderReport> reports = ProviderReport.all(providers);
      if (console.json()) {
        console.print(Map.of("providers", reports.stream().map(ProviderReport::json).toList()));
      } else if (reports.isEmpty()) {
        console.print("no providers\n");
      } else {
        console.print(table(console, reports));
      }
    }
    return ExitCodes.OK;
  }

  private static String table(Console console, List<ProviderReport> reports) {
    Table table =
        new Table().row("NAME", "STATUS", "ISOLATION", "STARTUP", "ENFORCES", "CAPABILITIES");
    for (ProviderReport report : reports) {
      String status =
          switch (report.health()) {
            case Health.Healthy _ -> console.styled(Style.GREEN, "healthy");
            case Health.Degraded _ -> console.styled(Style.YELLOW, "degraded");
            case Health.Unhealthy _ -> console.styled(Style.RED, "unhealthy");
          };
      if (report.info().isPresent()) {
        ProviderInfo info = report.info().get();
        table.row(
            report.name(),
            status,
            report.isolation(),
            "~" + info.startup().toMillis() + " ms",
            list(report.limits()),
            list(report.capabilities()));
      } else {
        table.row(report.name(), status, "-", "-", "-", "-");
      }
    }
    return table.fitted(console.columns());
  }

  private static String list(List<String> words) {
    return words.isEmpty() ? "-" : String.join(",", words);
  }
}
