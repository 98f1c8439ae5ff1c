package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.Contexts.Context;
import dev.isola.codec.json.Json;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola contexts}. */
@Command(
    name = "contexts",
    description = "List the servers added by isola login, or switch to one of them.")
public final class ContextsCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(arity = "0..1", paramLabel = "NAME", description = "Context to switch to.")
  private @Nullable String name;

  public ContextsCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    Contexts contexts = Contexts.of(context.environment().variables());
    if (name != null) {
      if (!contexts.all().containsKey(name)) {
        throw new UsageException(
            "unknown context '" + name + "'", "run isola contexts to list them");
      }
      contexts.use(name);
    }
    String current = contexts.current().map(Context::name).orElse("");
    Collection<Context> all = contexts.all().values();
    if (console.json()) {
      console.print(
          Map.of(
              "contexts",
              all.stream()
                  .map(
                      entry ->
                          Json.object(
                              "name",
                              entry.name(),
                              "url",
                              entry.url(),
                              "current",
                              entry.name().equals(current)))
                  .toList()));
    } else if (all.isEmpty()) {
      console.print("no contexts; add one with isola login URL\n");
    } else {
      Table table = new Table().row("", "NAME", "URL");
      all.forEach(
          entry ->
              table.row(
                  entry.name().equals(current) ? "*" : "",
                  entry.name(),
                  CellFormat.text(entry.url())));
      console.print(table.fitted(console.columns()));
    }
    return ExitCodes.OK;
  }
}
