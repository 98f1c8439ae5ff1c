package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.ProviderReport;
import dev.isola.app.cli.Providers;
import dev.isola.app.cli.Table;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ProviderSettings;
import dev.isola.provider.kubernetes.api.ClusterClient;
import dev.isola.spi.Health;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Prerequisite;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Implements {@code isola doctor}: reports what works on this machine, what does not, and how to
 * fix it.
 */
@Command(
    name = "doctor",
    description = {
      "Report whether sandboxes run on this machine, and what to do next.",
      "With -v, print every check and the fix for what is missing."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:at least one provider works; with --kubernetes: sandboxes can run as pods",
      "1:no provider works; with --kubernetes: a check failed"
    })
public final class DoctorCommand implements CliCommand {
  private static final int NOTHING_WORKS = 1;
  private static final String KUBERNETES = "kubernetes";

  private final CommandContext context;

  @Option(
      names = "--kubernetes",
      description = "Check the Kubernetes cluster of the configuration instead of this machine.")
  private boolean kubernetes;

  public DoctorCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    if (kubernetes) {
      return checkCluster(console);
    }
    try (Providers providers = context.providers()) {
      List<DoctorCheck> checks = MachineChecks.checks(context.dataFolder());
      List<DoctorCheck> tools =
          ToolChecks.of(context.environment().variables(), providers.programs()).checks();
      providers.discardProbeResults();
      List<ProviderReport> reports = ProviderReport.all(providers);
      long healthy = reports.stream().filter(report -> report.health().usable()).count();
      DoctorSummary summary =
          DoctorSummary.of(checks, reports, providers.instances(), policy(console));
      if (console.json()) {
        console.print(json(checks, tools, reports, healthy, summary));
      } else {
        String details =
            console.verbose()
                ? details(console, checks, tools, reports)
                : overview(console, reports);
        console.print(String.join("\n", summary.lines()) + "\n\n" + details);
      }
      return healthy > 0 ? ExitCodes.OK : NOTHING_WORKS;
    }
  }

  private int checkCluster(Console console) {
    List<DoctorCheck> checks = clusterChecks();
    boolean works = checks.stream().allMatch(DoctorCheck::good);
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("works", works);
      json.put("kubernetes", checks.stream().map(DoctorCheck::json).toList());
      console.print(json);
    } else {
      console.print(section(console, console.styled(Style.BOLD, "Kubernetes"), checks));
    }
    return works ? ExitCodes.OK : NOTHING_WORKS;
  }

  private List<DoctorCheck> clusterChecks() {
    Config config = context.configSources(null, List.of()).readOrThrow();
    Map<String, String> environment = context.environment().variables();
    ProviderSettings settings =
        config.providers().getOrDefault(KUBERNETES, ProviderSettings.defaults(KUBERNETES));
    try (Providers providers = context.providers(config)) {
      ClusterTarget target =
          ClusterTarget.of(
              settings.config(),
              environment,
              Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", "/"))));
      try (ClusterClient client = new ClusterClient(target.access())) {
        return new ClusterChecks(client, target, () -> providers.status(KUBERNETES).health()).run();
      }
    } catch (SandboxException e) {
      return List.of(DoctorCheck.bad("cluster", e.fault().problem(), e.fault().remedy()));
    }
  }

  /** Returns the policy that runs and servers with the default configuration have. */
  private SelectionPolicy policy(Console console) {
    try {
      return context.configSources(null, List.of()).readOrThrow().policy();
    } catch (SandboxException e) {
      console.printErr("the configuration is not used: " + e.fault().problem());
      return SelectionPolicy.DEFAULT;
    }
  }

  /** Returns one line for each provider, those that work first. */
  private static String overview(Console console, List<ProviderReport> reports) {
    List<ProviderReport> sorted = new ArrayList<>(reports);
    sorted.sort(Comparator.comparing(report -> !report.health().usable()));
    Table table = new Table();
    for (ProviderReport report : sorted) {
      boolean degraded = report.health() instanceof Health.Degraded;
      table.row(
          degraded ? console.warningMark() : console.statusMark(report.health().usable()),
          report.name(),
          report.isolation(),
          switch (report.health()) {
            case Health.Healthy _ -> "";
            case Health.Degraded(String reason, String _) -> reason;
            case Health.Unhealthy(String reason, String _) -> reason;
          });
    }
    return console.styled(Style.BOLD, "Providers")
        + "\n"
        + table.fitted(console.columns())
        + "\nisola doctor -v prints every check, and the fix for what is missing.\n";
  }

  private static String details(
      Console console,
      List<DoctorCheck> checks,
      List<DoctorCheck> tools,
      List<ProviderReport> reports) {
    StringBuilder text = new StringBuilder();
    text.append(section(console, console.styled(Style.BOLD, "Machine"), checks)).append('\n');
    text.append(section(console, console.styled(Style.BOLD, "Tools"), tools));
    for (ProviderReport report : reports) {
      text.append('\n').append(provider(console, report));
    }
    return text.toString();
  }

  public static String section(Console console, String title, List<DoctorCheck> checks) {
    Table table = new Table();
    for (int i = 0; i < checks.size(); i++) {
      DoctorCheck check = checks.get(i);
      String mark = check.warns() ? console.warningMark() : console.statusMark(check.good());
      table.row(mark, check.name(), check.value());
      // Print a fix that several adjacent items share only once.
      boolean repeated = i + 1 < checks.size() && checks.get(i + 1).fix().equals(check.fix());
      if (!check.fix().isEmpty() && !repeated) {
        String text = check.warns() ? check.fix() : "fix: " + check.fix();
        table.row("", "", console.styled(Style.YELLOW, text));
      }
    }
    return title + "\n" + table.text(console.columns());
  }

  private static String provider(Console console, ProviderReport report) {
    String isolation = report.info().map(_ -> ", isolation " + report.isolation()).orElse("");
    List<DoctorCheck> checks = new ArrayList<>();
    checks.add(
        switch (report.health()) {
          case Health.Healthy(String detail) -> DoctorCheck.good("healthy", detail);
          case Health.Degraded(String reason, String fix) ->
              DoctorCheck.bad("degraded", reason, fix);
          case Health.Unhealthy(String reason, String fix) ->
              DoctorCheck.bad("unhealthy", reason, fix);
        });
    report.info().stream()
        .flatMap(info -> info.prerequisites().stream())
        .forEach(requirement -> checks.add(check(requirement)));
    report
        .resources()
        .ifPresent(resources -> checks.add(DoctorCheck.good("resources", text(resources))));
    return section(
        console, console.styled(Style.BOLD, "Provider " + report.name()) + isolation, checks);
  }

  private static String text(HostResources resources) {
    StringBuilder text = new StringBuilder();
    text.append(resources.processors()).append(" processors, ");
    text.append(resources.memoryMb()).append(" MB of memory");
    resources.freeMemoryMb().ifPresent(free -> text.append(" (").append(free).append(" free)"));
    resources.diskMb().ifPresent(disk -> text.append(", ").append(disk).append(" MB of disk"));
    resources.freeDiskMb().ifPresent(free -> text.append(" (").append(free).append(" free)"));
    return text.toString();
  }

  private static DoctorCheck check(Prerequisite requirement) {
    if (requirement.present()) {
      return DoctorCheck.good(requirement.name(), requirement.detail());
    }
    String optional = requirement.necessary() ? "" : " (optional)";
    return DoctorCheck.bad(requirement.name(), requirement.detail() + optional, requirement.fix());
  }

  private static Map<String, ?> json(
      List<DoctorCheck> checks,
      List<DoctorCheck> tools,
      List<ProviderReport> reports,
      long healthy,
      DoctorSummary summary) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("works", healthy > 0);
    json.put("healthy", healthy);
    json.put("machine", checks.stream().map(DoctorCheck::json).toList());
    json.put("tools", tools.stream().map(DoctorCheck::json).toList());
    json.put("providers", reports.stream().map(ProviderReport::json).toList());
    json.put("summary", summary.verdict());
    json.put("next", summary.next());
    return json;
  }
}
