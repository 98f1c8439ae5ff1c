package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.TemplateInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Implements {@code isola template ls}. */
@Command(name = "ls", description = "List templates, sorted by name.")
final class TemplateListCommand extends RemoteCommand {

  TemplateListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<TemplateInfo> all = isola.templates().list();
    if (console.json()) {
      console.print(Map.of("templates", all.stream().map(TemplateInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (all.isEmpty()) {
      console.print("no templates; build one with isola template build NAME\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("NAME", "IMAGE", "UPDATED");
    for (TemplateInfo template : all) {
      table.row(
          CellFormat.text(template.name()),
          CellFormat.text(template.image().orElse("not built")),
          CellFormat.age(template.updatedAt(), now) + " ago");
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
