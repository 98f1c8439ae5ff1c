package dev.isola.app;

import dev.isola.app.Console.Paint;
import dev.isola.spi.Health;
import dev.isola.spi.Requirement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code isola doctor}: what works on this machine, what does not, and what to do about it. */
@Command(
    name = "doctor",
    description = "Tell what works on this machine, what does not, and how to fix it.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:at least one provider works", "1:none does"})
final class DoctorCommand implements Action {
  private static final int NOTHING_WORKS = 1;

  private final Wiring wiring;

  DoctorCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    try (Providers providers = wiring.providers()) {
      List<Fact> facts = Machine.facts(wiring.dataFolder());
      List<Fact> tools = Tools.of(wiring.host().env()).facts(Tool.ALL);
      List<ProviderReport> reports = ProviderReport.all(providers);
      long healthy = reports.stream().filter(report -> report.health().healthy()).count();
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
      List<Fact> facts,
      List<Fact> tools,
      List<ProviderReport> reports,
      long healthy) {
    StringBuilder text = new StringBuilder();
    text.append(section(console, "Machine", facts)).append('\n');
    text.append(section(console, "Tools", tools));
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

  private static String section(Console console, String title, List<Fact> facts) {
    Table table = new Table();
    for (Fact fact : facts) {
      String mark = fact.warns() ? console.caution() : console.mark(fact.good());
      table.row(mark, fact.name(), fact.value());
      fix(table, console, fact.fix());
    }
    return console.paint(Paint.BOLD, title) + "\n" + table.text();
  }

  private static String provider(Console console, ProviderReport report) {
    Table table = new Table();
    String isolation =
        report
            .info()
            .map(info -> ", isolation " + ProviderReport.word(info.isolation()))
            .orElse("");
    String title = console.paint(Paint.BOLD, "Provider " + report.name()) + isolation + "\n";
    switch (report.health()) {
      case Health.Healthy(String detail) -> table.row(console.mark(true), "healthy", detail);
      case Health.Unhealthy(String reason, String fix) -> {
        table.row(console.mark(false), "unhealthy", reason);
        fix(table, console, fix);
      }
    }
    if (report.info().isPresent()) {
      for (Requirement requirement : report.info().get().requirements()) {
        String optional = requirement.necessary() || requirement.present() ? "" : " (optional)";
        table.row(
            console.mark(requirement.present()),
            requirement.name(),
            requirement.detail() + optional);
        if (!requirement.present()) {
          fix(table, console, requirement.fix());
        }
      }
    }
    return title + table.text();
  }

  private static void fix(Table table, Console console, String fix) {
    if (!fix.isEmpty()) {
      table.row("", "", console.paint(Paint.YELLOW, "fix: " + fix));
    }
  }

  private static Map<String, ?> json(
      List<Fact> facts, List<Fact> tools, List<ProviderReport> reports, long healthy) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("works", healthy > 0);
    json.put("healthy", healthy);
    json.put("machine", facts.stream().map(Fact::json).toList());
    json.put("tools", tools.stream().map(Fact::json).toList());
    json.put("providers", reports.stream().map(ProviderReport::json).toList());
    return json;
  }
}
