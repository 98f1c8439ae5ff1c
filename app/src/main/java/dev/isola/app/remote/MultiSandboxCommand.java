package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine.Parameters;

/**
 * A command that applies one operation to several sandboxes. A failure does not affect the others.
 */
abstract class MultiSandboxCommand extends RemoteCommand {
  @Parameters(
      paramLabel = "ID",
      arity = "1..*",
      description = "Ids, names, or first characters of ids of the sandboxes.")
  private List<String> ids = new ArrayList<>();

  MultiSandboxCommand(CommandContext context) {
    super(context);
  }

  /**
   * Applies the operation. Reports every failure except the last, which is thrown. An ambiguous
   * reference is refused before anything is done.
   */
  final int forEach(Isola isola, Console console, String done, Consumer<Sandbox> action) {
    List<SandboxException> failures = new ArrayList<>();
    Map<String, Sandbox> sandboxes = new LinkedHashMap<>();
    for (String reference : ids) {
      try {
        Sandbox sandbox = sandbox(isola, reference);
        sandboxes.put(sandbox.id(), sandbox);
      } catch (NotFound e) {
        failures.add(RemoteFault.of(e));
      }
    }
    List<String> succeeded = new ArrayList<>();
    for (Sandbox sandbox : sandboxes.values()) {
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
