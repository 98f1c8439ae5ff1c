package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola renew}. */
@Command(
    name = "renew",
    description = "Set the time until a sandbox expires, counted from now.",
    footer = {"%nFor example:", "  isola renew web 2h"})
public final class RenewCommand extends RemoteCommand {
  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(index = "1", paramLabel = "TIME", description = "Time from now: 30m, 2h, 1d.")
  private String time = "";

  public RenewCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Duration ttl = Arguments.duration("TIME", time);
    SandboxInfo renewed = sandbox(isola, id).renew(ttl);
    if (console.json()) {
      console.print(renewed.document());
    } else {
      console.print(
          renewed.id()
              + " expires "
              + renewed
                  .expiresAt()
                  .map(at -> "in " + CellFormat.duration(ttl) + ", at " + at)
                  .orElse("never")
              + "\n");
    }
    return ExitCodes.OK;
  }
}
