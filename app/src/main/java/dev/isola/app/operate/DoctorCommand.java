package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.ProviderReport;
import dev.isola.app.cli.Providers;
import dev.isola.app.cli.Table;
import dev.isola.spi.Health;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/**
 * Implements {@code isola doctor}: reports what works on this machine, what does not, and how to
 * fix it.
 */
@Command(
    name = "doctor",
    description = "Check what works on this machine, and how to fix what does not.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:at least one provider works", "1:no provider works"})
public final class DoctorCommand implements CliCommand {
  private static final int NOTHING_WORKS = 1;

  private final CommandContext wiring;

  public DoctorCommand(CommandContext wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    try (Providers providers = wiring.providers()) {
      List<DoctorCheck> facts = MachineChecks.checks(wiring.dataFolder());
      List<DoctorCheck> tools =
          ToolChecks.of(wiring.environment().variables(), providers.programs()).checks();
      List<ProviderReport> reports = ProviderReport.all(providers);
      long healthy = reports.stream().filter(report -> report.health().usable()).count();
      if (console.json()) {
        console.print(json(facts, tools, reports, healthy));
      } else {
        console.print(text(console, facts, tools, reports, healthy));
      }
      return healthy > 0 ? ExitCodes.OK : NOTHING_WORKS;
    }
  }

  private static String text(
      Console console,
      List<DoctorCheck> facts,
      List<DoctorCheck> tools,
      List<ProviderReport> reports,
      long healthy) {
    StringBuilder text = new StringBuilder();
    text.append(section(console, console.styled(Style.BOLD, "Machine"), facts)).append('\n');
    text.append(section(console, console.styled(Style.BOLD, "Tools"), tools));
    for (ProviderReport report : reports) {
      text.append('\n').append(provider(console, report));
    }
    text.append('\n');
    text.append(
        healthy > 0
            ? "Isola works here: " + healthy + " of " + reports.size() + " providers"
            : "Isola does not work here: 0 of " + reports.size() + " providers");
    return text.append('\n').toString();
  }

  public static String section(Console console, String title, List<DoctorCheck> facts) {
    Table table = new Table();
    for (int i = 0; i < facts.size(); i++) {
      DoctorCheck fact = facts.get(i);
      String mark = fact.warns() ? console.warningMark() : console.statusMark(fact.good());
      table.row(mark, fact.name(), fact.value());
      // Print a fix that several adjacent items share only once.
      boolean again = i + 1 < facts.size() && facts.get(i + 1).fix().equals(fact.fix());
      if (!fact.fix().isEmpty() && !again) {
        String text = fact.warns() ? fact.fix() : "fix: " + fact.fix();
        table.row("", "", console.styled(Style.YELLOW, text));
      }
    }
    return title + "\n" + table.text(console.columns());
  }

  private static String provider(Console console, ProviderReport report) {
    String isolation =
        report
            .info()
            .map(info -> ", isolation " + ProviderReport.kebabCase(info.isolation()))
            .orElse("");
    List<DoctorCheck> facts = new ArrayList<>();
    facts.add(
        switch (report.health()) {
          case Health.Healthy(String detail) -> DoctorCheck.good("healthy", detail);
          case Health.Degraded(String reason, String fix) ->
              DoctorCheck.bad("degraded", reason, fix);
          case Health.Unhealthy(String reason, String fix) ->
              DoctorCheck.bad("unhealthy", reason, fix);
        });
    report.info().stream()
        .flatMap(info -> info.prerequisites().stream())
        .forEach(requirement -> facts.add(fact(requirement)));
    report.resources().ifPresent(host -> facts.add(DoctorCheck.good("resources", text(host))));
    return section(
        console, console.styled(Style.BOLD, "Provider " + report.name()) + isolation, facts);
  }

  private static String text(HostResources host) {
    StringBuilder text = new StringBuilder();
    text.append(host.processors()).append(" processors, ");
    text.append(host.memoryMb()).append(" MB of memory");
    host.freeMemoryMb().ifPresent(free -> text.append(" (").append(free).append(" free)"));
    host.diskMb().ifPresent(disk -> text.append(", ").append(disk).append(" MB of disk"));
    host.freeDiskMb().ifPresent(free -> text.append(" (").append(free).append(" free)"));
    return text.toString();
  }

  private static DoctorCheck fact(Prerequisite requirement) {
    if (requirement.present()) {
      return DoctorCheck.good(requirement.name(), requirement.detail());
    }
    String optional = requirement.necessary() ? "" : " (optional)";
    return DoctorCheck.bad(requirement.name(), requirement.detail() + optional, requirement.fix());
  }

  private static Map<String, ?> json(
      List<DoctorCheck> facts,
      List<DoctorCheck> tools,
      List<ProviderReport> reports,
      long healthy) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("works", healthy > 0);
    json.put("healthy", healthy);
    json.put("machine", facts.stream().map(DoctorCheck::json).toList());
    json.put("tools", tools.stream().map(DoctorCheck::json).toList());
    json.put("providers", reports.stream().map(ProviderReport::json).toList());
    return json;
  }
}
