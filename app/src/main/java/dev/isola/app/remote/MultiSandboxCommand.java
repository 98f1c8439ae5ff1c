package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine.Parameters;

/**
 * A command that applies one operation to several sandboxes. A failure does not affect the others.
 */
abstract class MultiSandboxCommand extends RemoteCommand {
  @Parameters(paramLabel = "ID", arity = "1..*", description = "Ids of the sandboxes.")
  private List<String> ids = new ArrayList<>();

  MultiSandboxCommand(CommandContext context) {
    super(context);
  }

  /** Reports every failure except the last, which is thrown. */
  final int forEach(Isola isola, Console console, String done, Consumer<Sandbox> action) {
    List<Sandbox> sandboxes = ids.stream().distinct().map(id -> sandbox(isola, id)).toList();
    List<String> succeeded = new ArrayList<>();
    List<SandboxException> failures = new ArrayList<>();
    for (Sandbox sandbox : sandboxes) {
      try {
        action.accept(sandbox);
        succeeded.add(sandbox.id());
      } catch (IsolaException e) {
        failures.add(RemoteFault.of(e));
      }
    }
    if (failures.isEmpty()) {
      if (console.json()) {
        console.print(Map.of(done, succeeded));
      }
      return ExitCodes.OK;
    }
    for (SandboxException failure : failures.subList(0, failures.size() - 1)) {
      ErrorReport.write(context.environment(), failure.fault(), false);
    }
    throw failures.getLast();
  }
}
