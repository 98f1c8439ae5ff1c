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
      "Print the output of a command in a sandbox.",
      "Without EXEC, list running and recently ended executions."
    })
public final class LogsCommand extends RemoteCommand {
  private static final int WIDEST_COMMAND = 60;

  @Option(
      names = {"-f", "--follow"},
      description = "Follow the output until the command exits.")
  private boolean follow;

  @Option(
      names = "--offset",
      paramLabel = "N",
      description = "Start at this byte. Default: the oldest retained output.")
  private long offset;

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "EXEC",
      description = "Id of the execution.")
  private @Nullable String execution;

  public LogsCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Sandbox sandbox = sandbox(isola, id);
    if (execution == null) {
      return list(sandbox.executions(), console);
    }
    if (offset < 0) {
      throw new UsageException("--offset is negative", "use 0 or a greater number");
    }
    try (Execution following = sandbox.execution(execution, offset)) {
      RemoteOutput.copy(
          context.environment(), following, follow ? Long.MAX_VALUE : following.info().endOffset());
      return ExitCodes.OK;
    } catch (IOException closed) {
      return ExitCodes.OUTPUT_CLOSED;
    }
  }

  private static int list(List<ExecutionInfo> executions, Console console) {
    if (console.json()) {
      console.print(
          Map.of("executions", executions.stream().map(ExecutionInfo::document).toList()));
      return ExitCodes.OK;
    }
    if (executions.isEmpty()) {
      console.print("no executions; start one with isola exec\n");
      return ExitCodes.OK;
    }
    Instant now = Instant.now();
    Table table = new Table().row("EXEC", "PID", "STARTED", "STATE", "OUTPUT", "COMMAND");
    for (ExecutionInfo entry : executions) {
      table.row(
          CellFormat.text(entry.id()),
          Long.toString(entry.pid()),
          CellFormat.age(entry.startedAt(), now) + " ago",
          entry.exit().map(exit -> "exited with " + exit.shellCode()).orElse("running"),
          CellFormat.size(entry.endOffset()),
          CellFormat.truncated(String.join(" ", entry.argv()), WIDEST_COMMAND));
    }
    console.print(table.fitted(console.columns()));
    return ExitCodes.OK;
  }
}
