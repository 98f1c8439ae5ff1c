package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola ls}. */
@Command(name = "ls", description = "List the sandboxes on a server.")
public final class ListCommand extends RemoteCommand {
  /** Enough characters of an id to tell sandboxes apart; commands accept the beginning of an id. */
  private static final int SHORT_ID = 12;

  @Option(
      names = "--state",
      paramLabel = "STATE",
      description =
          "Filter by state: creating, running, paused, stopped, error, terminating or destroyed."
              + " Repeatable. Default: all except destroyed.")
  private List<String> states = new ArrayList<>();

  @Option(
      names = "--tag",
      paramLabel = "NAME=VALUE",
      description = "Filter by tag; all given tags must match. Repeatable.")
  private List<String> tags = new ArrayList<>();

  @Option(names = "--provider", paramLabel = "NAME", description = "Filter by provider.")
  private @Nullable String provider;

  @Option(
      names = {"-q", "--quiet"},
      description = "Print only the ids.")
  private boolean quiet;

  public ListCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    List<SandboxInfo> sandboxes = isola.list(filter());
    if (console.json()) {
      console.print(Map.of("sandboxes", sandboxes.stream().map(SandboxInfo::document).toList()));
    } else if (quiet) {
      console.print(
          sandboxes.stream().map(sandbox -> sandbox.id() + "\n").collect(Collectors.joining()));
    } else if (sandboxes.isEmpty()) {
      console.print("no sandboxes; create one with isola create\n");
    } else {
      console.print(table(sandboxes, Instant.now()).fitted(console.columns()));
    }
    return ExitCodes.OK;
  }

  private SandboxFilter filter() {
    SandboxFilter filter = SandboxFilter.ALL;
    for (String state : states) {
      filter = filter.state(state);
    }
    for (var tag : Arguments.variables("--tag", tags).entrySet()) {
      filter = filter.tag(tag.getKey(), tag.getValue());
    }
    return provider == null ? filter : filter.provider(provider);
  }

  private static Table table(List<SandboxInfo> sandboxes, Instant now) {
    Table table =
        new Table()
            .withShortIds(SHORT_ID)
            .row("ID", "NAME", "STATE", "PROVIDER", "ISOLATION", "AGE", "EXPIRES", "TAGS");
    for (SandboxInfo sandbox : sandboxes) {
      table.row(
          sandbox.id(),
          CellFormat.text(sandbox.name().orElse("-")),
          CellFormat.text(sandbox.state()),
          CellFormat.text(sandbox.provider()),
          CellFormat.text(sandbox.isolation()),
          CellFormat.age(sandbox.createdAt(), now),
          sandbox
              .expiresAt()
              .map(at -> "in " + CellFormat.duration(Duration.between(now, at)))
              .orElse("never"),
          VisibleTags.text(sandbox.tags()));
    }
    return table;
  }
}
