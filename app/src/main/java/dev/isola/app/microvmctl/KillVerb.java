package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.Gone;
import dev.isola.client.error.NotFound;
import java.util.Optional;
import picocli.CommandLine.Command;

/** Implements {@code microvmctl kill}. */
@Command(name = "kill", description = "Destroy a sandbox; succeeds if there is none with this id.")
final class KillVerb extends SandboxVerb {
  KillVerb(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola) {
    Optional<Sandbox> sandbox = find(isola);
    try {
      sandbox.ifPresent(one -> one.destroy(true));
    } catch (NotFound | Gone e) {
      // It is destroyed already.
    }
    return ExitCodes.OK;
  }
}
