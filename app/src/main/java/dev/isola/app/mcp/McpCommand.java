package dev.isola.app.mcp;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.remote.ServerOptions;
import dev.isola.engine.config.Config;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Implements {@code isola mcp}. */
@Command(
    name = "mcp",
    description = {
      "Serve the Model Context Protocol on standard input and output.",
      "Calls the server of --server, ISOLA_URL or the last login. Without one, runs sandboxes"
          + " itself."
    })
public final class McpCommand implements CliCommand {
  private final CommandContext context;
  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--sandbox",
      paramLabel = "NAME",
      description =
          "Sandbox that tools use by default; created when it is needed. Default: one that is"
              + " destroyed when standard input ends.")
  private @Nullable String sandbox;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration file, if there is no server; see isola config --help.")
  private @Nullable String file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Override a configuration value, if there is no server. Repeatable.")
  private List<String> values = new ArrayList<>();

  public McpCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Optional<ServerOptions.Server> configured =
        server.resolveIfConfigured(context.environment().variables());
    if (configured.isPresent()) {
      serve(configured.get());
    } else {
      Config config = context.configSources(file, values).readOrThrow();
      try (StandaloneServer standalone = StandaloneServer.start(context.environment(), config)) {
        serve(standalone.address());
      }
    }
    return ExitCodes.OK;
  }

  private void serve(ServerOptions.Server address) {
    String name =
        Optional.ofNullable(sandbox).orElseGet(() -> "mcp-" + SandboxId.random(new SecureRandom()));
    try (HttpBridge bridge = new HttpBridge(address, name)) {
      new StdioTransport(context.environment().in(), context.environment().out(), bridge).run();
      if (sandbox == null) {
        bridge.destroySandbox();
      }
    } catch (IOException e) {
      // The client closed a stream, which ends the session like the end of input.
    }
  }
}
