package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Execution;
import dev.isola.client.ExecutionInfo;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola logs}. */
@Command(
    name = "logs",
    description = {
      "Show what a command in a sandbox wrote.",
      "Without EXEC it lists what runs there and what ended lately."
    })
public final class LogsCommand extends RemoteCommand {
  private static final int WIDEST_COMMAND = 60;

  @Option(
      names = {"-f", "--follow"},
      description = "Go on until the command has ended.")
  private boolean follow;

  @Option(
      names = "--offset",
      paramLabel = "N",
      description = "Begin at this byte. Default: the oldest that is kept.")
  private long offset;

  @Parameters(index = "0", paramLabel = "ID", description = "The sandbox.")
  private String id = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "EXEC", description = "The execution.")
  private @Nullable String execution;

  public LogsCommand(CommandContext wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    Sandbox sandbox = sandbox(isola, id);
    if (execution == null) {
      return list(sandbox.executions(), console);
    }
    if (offset < 0) {
      throw new UsageException("--offset is below 0", "0 is the first byte");
    }
    try (Execution following = sandbox.execution(execution, offset)) {
      RemoteOutput.copy(
          wiring.environment(), following, follow ? Long.MAX_VALUE : following.info().endOffset());
      return ExitCodes.OK;
    } catch (IOException closed) {
      return ExitCodes.OUTPUT_CLOSED;
    }
  }

  private static int list(List<ExecutionInfo> found, Console console) {
    if (console.json()) {
      console.print(Map.of("executions", found.stream().map(ExecutionInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (found.isEmpty()) {
      console.print("no executions; isola exec starts one\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("EXEC", "PID", "STARTED", "STATE", "OUTPUT", "COMMAND");
    for (ExecutionInfo one : found) {
      table.row(
          CellFormat.text(one.id()),
          Long.toString(one.pid()),
          CellFormat.age(one.startedAt(), now) + " ago",
          one.exit().map(exit -> "ended with " + exit.shellCode()).orElse("running"),
          CellFormat.size(one.endOffset()),
          CellFormat.truncated(String.join(" ", one.argv()), WIDEST_COMMAND));
    }
    console.print(table.text());
    return ExitCodes.OK;
  }
}
