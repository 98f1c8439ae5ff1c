package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.engine.api.SandboxNames;
import java.time.Duration;
import picocli.CommandLine.Mixin;

/** A command that calls a server. Errors of the server are reported like local ones. */
abstract class RemoteCommand implements CliCommand {
  /** Longer than the client's default, because an operator may be restarting the server. */
  private static final Duration RECONNECT = Duration.ofMinutes(1);

  final CommandContext context;
  @Mixin final ServerOptions server = new ServerOptions();

  RemoteCommand(CommandContext context) {
    this.context = context;
  }

  abstract int run(Isola isola, Console console);

  @Override
  public final int run() {
    Console console = context.console();
    ServerOptions.Server chosen = server.resolve(context.environment().variables());
    if (console.verbose()) {
      console.printErr("server " + chosen.url());
    }
    try (Isola isola =
        Isola.connect(IsolaOptions.of(chosen.url(), chosen.key()).withReconnectFor(RECONNECT))) {
      return run(isola, console);
    } catch (IsolaException e) {
      throw RemoteFault.of(e);
    }
  }

  /**
   * Returns the sandbox with this id, this name, or an id that begins with it. Checks the text
   * here, because an invalid one would change the request path.
   */
  static Sandbox sandbox(Isola isola, String reference) {
    if (!reference.matches(SandboxNames.PATTERN)) {
      throw new UsageException(
          "'" + reference + "' is neither the id nor the name of a sandbox",
          "run isola ls to list sandboxes");
    }
    return isola.resolve(reference);
  }
}
