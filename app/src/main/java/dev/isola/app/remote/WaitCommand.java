package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import dev.isola.client.error.DeadlineExceeded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola wait}. */
@Command(
    name = "wait",
    description = "Wait until a sandbox is in a state.",
    footer = {
      "%nExits with 124 if the sandbox does not reach the state in time, and at once with 125 if it"
          + " never can."
    })
public final class WaitCommand extends RemoteCommand {
  @Option(
      names = "--state",
      paramLabel = "S",
      description = "State to wait for; repeatable, any of them ends the wait. Default: running.")
  private List<String> states = new ArrayList<>();

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "The longest time to wait: 30s, 5m. Default: 5m.")
  private String timeout = "5m";

  @Parameters(paramLabel = "ID", description = "Id, name, or first characters of the id.")
  private String id = "";

  public WaitCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Duration time = Arguments.duration("--timeout", timeout);
    List<String> any = states.isEmpty() ? List.of("running") : states;
    SandboxInfo reached;
    try {
      reached = sandbox(isola, id).awaitState(any, time);
    } catch (DeadlineExceeded e) {
      ErrorReport.write(context.environment(), RemoteFault.of(e).fault(), console.json());
      return ExitCodes.TIMEOUT;
    }
    if (console.json()) {
      console.print(reached.document());
    } else {
      console.print(CellFormat.text(reached.state()) + "\n");
    }
    return ExitCodes.OK;
  }
}
