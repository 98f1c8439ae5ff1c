package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Execution;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.codec.json.Json;
import dev.isola.spi.exec.Signal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola kill}. */
@Command(
    name = "kill",
    description = {
      "Kill one execution in a sandbox, with all its descendants, or send it a signal.",
      "The sandbox keeps running; isola rm destroys it."
    },
    footer = {"%nFor example:", "  isola kill web 3", "  isola kill --signal TERM web 3"})
public final class KillCommand extends RemoteCommand {
  @Option(
      names = {"-s", "--signal"},
      paramLabel = "SIGNAL",
      description = "Signal to send: TERM, SIGINT or 15. Default: KILL.")
  private String signal = "KILL";

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "EXEC",
      description = "Id of the execution; isola logs ID lists executions.")
  private @Nullable String execution;

  public KillCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    if (execution == null) {
      throw new UsageException(
          "isola kill needs the id of an execution",
          "isola logs "
              + id
              + " lists the executions, and isola rm "
              + id
              + " destroys the sandbox");
    }
    if (Signal.parse(signal).isEmpty()) {
      throw new UsageException(
          "--signal '" + signal + "' is not a signal", "use a value such as TERM, SIGINT or 15");
    }
    Sandbox sandbox = sandbox(isola, id);
    try (Execution target = sandbox.execution(execution, 0)) {
      target.signal(signal);
    }
    if (console.json()) {
      console.print(Json.object("sandbox", sandbox.id(), "execution", execution, "signal", signal));
    }
    return ExitCodes.OK;
  }
}
