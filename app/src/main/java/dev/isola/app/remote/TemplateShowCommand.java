package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.TemplateBuildInfo;
import dev.isola.client.TemplateInfo;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola template show}. */
@Command(name = "show", description = "Print the details of a template and its builds.")
final class TemplateShowCommand extends RemoteCommand {
  @Parameters(paramLabel = "NAME", description = "Name of the template.")
  private String name = "";

  TemplateShowCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    TemplateInfo info = isola.templates().get(name);
    List<TemplateBuildInfo> builds = isola.templates().builds(info.id());
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>(info.document());
      json.put("builds", builds.stream().map(TemplateBuildInfo::document).toList());
      console.print(json);
      return ExitCodes.OK;
    }
    Table table = new Table();
    info.document()
        .forEach(
            (field, value) ->
                table.row(CellFormat.text(field), CellFormat.text(String.valueOf(value))));
    console.print(table.text(console.columns()));
    if (!builds.isEmpty()) {
      console.print("\n" + table(builds).fitted(console.columns()));
    }
    return ExitCodes.OK;
  }

  private static Table table(List<TemplateBuildInfo> builds) {
    Instant now = Instant.now();
    Table table = new Table().row("BUILD", "STATE", "UPDATED", "REASON");
    for (TemplateBuildInfo info : builds) {
      table.row(
          CellFormat.text(info.id()),
          CellFormat.text(info.state()),
          CellFormat.age(info.updatedAt(), now) + " ago",
          CellFormat.text(info.reason()));
    }
    return table;
  }
}
