package dev.isola.app.microvmctl;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.RemoteFault;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.client.error.IsolaException;
import dev.isola.engine.api.SandboxNames;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * A verb that concerns one sandbox. The id of the contract is the sandbox's name at the server,
 * because a name can be used again after the sandbox is destroyed.
 */
abstract class SandboxVerb implements CliCommand {
  final CommandContext context;

  @Option(names = "--id", paramLabel = "ID", required = true, description = "Id of the sandbox.")
  private String id = "";

  SandboxVerb(CommandContext context) {
    this.context = context;
  }

  abstract int run(Isola isola);

  @Override
  public final int run() {
    if (!id.matches(SandboxNames.PATTERN)) {
      throw new UsageException(
          "--id '" + id + "' is not an id",
          "use 1 to 63 letters, digits, '.', '_' and '-', beginning with a letter or digit");
    }
    try (Isola isola = ControllerServer.connect(context)) {
      return run(isola);
    } catch (IsolaException e) {
      throw RemoteFault.of(e);
    }
  }

  final String id() {
    return id;
  }

  /** Finds the sandbox by its whole name; other sandboxes of the server are never meant. */
  final Optional<Sandbox> find(Isola isola) {
    return isola.list(SandboxFilter.ALL.reference(id)).stream()
        .filter(one -> one.name().equals(Optional.of(id)))
        .map(SandboxInfo::id)
        .map(isola::sandbox)
        .findFirst();
  }

  final Sandbox sandbox(Isola isola) {
    return find(isola)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.SANDBOX_NOT_FOUND,
                        "no sandbox has the id '" + id + "'",
                        "create it with microvmctl create --id " + id + " --ttl-ms MS")
                    .exception());
  }
}
