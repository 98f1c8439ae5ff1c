package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.remote.RemoteFault;
import dev.isola.client.Files;
import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import picocli.CommandLine.Option;

/** A verb that concerns one path of a sandbox. */
abstract class PathVerb extends SandboxVerb {
  @Option(
      names = "--path",
      paramLabel = "PATH",
      required = true,
      description = "Path in the sandbox; a relative one starts at the working folder.")
  private String path = "";

  PathVerb(CommandContext context) {
    super(context);
  }

  abstract void run(Files files, String path) throws IOException;

  @Override
  final int run(Isola isola) {
    try {
      run(sandbox(isola).files(), path);
      context.environment().out().flush();
      return ExitCodes.OK;
    } catch (IOException e) {
      if (e.getCause() instanceof IsolaException remote) {
        throw RemoteFault.of(remote);
      }
      throw Fault.of(
              ErrorCode.EXECUTION_FAILED,
              "the transfer of " + path + " failed: " + IoErrors.describe(e),
              "try again")
          .exception(e);
    }
  }
}
