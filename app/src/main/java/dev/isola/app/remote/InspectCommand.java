package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Ports;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxInfo;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola inspect}. */
@Command(
    name = "inspect",
    description = {
      "Print everything that the server knows about a sandbox.",
      "Does not resume a suspended sandbox."
    })
public final class InspectCommand extends RemoteCommand {
  @Parameters(paramLabel = "ID", description = "Id, name, or first characters of the id.")
  private String id = "";

  public InspectCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Sandbox sandbox = sandbox(isola, id);
    SandboxInfo info = sandbox.info();
    if (console.json()) {
      console.print(info.document());
      return ExitCodes.OK;
    }
    List<Ports.Port> ports = info.state().equals("destroyed") ? List.of() : sandbox.ports().list();
    console.print(SandboxDetails.table(info, ports, Instant.now()).text(console.columns()));
    return ExitCodes.OK;
  }
}
