package dev.isola.app.remote;

import dev.isola.app.cli.Cells;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.Wiring;
import dev.isola.client.Isola;
import dev.isola.client.TemplateBuildInfo;
import dev.isola.client.TemplateInfo;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code isola template show}. */
@Command(name = "show", description = "Show all that is known of a template, and its builds.")
final class TemplateShowCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", description = "The template.")
  private String name = "";

  TemplateShowCommand(Wiring wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    TemplateInfo one = isola.templates().get(name);
    List<TemplateBuildInfo> builds = isola.templates().builds(one.id());
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>(one.document());
      json.put("builds", builds.stream().map(TemplateBuildInfo::document).toList());
      console.print(json);
      return ExitCodes.OK;
    }
    Table table = new Table();
    one.document()
        .forEach(
            (field, value) -> table.row(Cells.text(field), Cells.text(String.valueOf(value))));
    console.print(table.text());
    if (!builds.isEmpty()) {
      console.print("\n" + table(builds).text());
    }
    return ExitCodes.OK;
  }

  private static Table table(List<TemplateBuildInfo> builds) {
    Instant now = Instant.now();
    Table table = new Table().row("BUILD", "STATE", "UPDATED", "REASON");
    for (TemplateBuildInfo one : builds) {
      table.row(
          Cells.text(one.id()),
          Cells.text(one.state()),
          Cells.since(one.updatedAt(), now) + " ago",
          Cells.text(one.reason()));
    }
    return table;
  }
}
