package dev.isola.app.serve;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ConfigOptions;
import dev.isola.app.cli.ExitCodes;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Implements {@code isola serve}. */
@Command(
    name = "serve",
    description = "Start a server with the HTTP API; runs until SIGTERM or Ctrl-C.")
public final class ServeCommand implements CliCommand {
  private final CommandContext context;

  @Option(
      names = "--host",
      paramLabel = "H",
      description = "Address to listen on. Default: 127.0.0.1. Other addresses require an API key.")
  private @Nullable String address;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port to listen on; 0 for any free port. Default: 7777.")
  private @Nullable Integer port;

  @Option(
      names = "--e2b-domain",
      paramLabel = "DOMAIN",
      description =
          "Domain that E2B's SDKs use as E2B_DOMAIN, such as e2b.localhost. The server speaks TLS"
              + " with a certificate from its own certificate authority, which it creates on first"
              + " use.")
  private @Nullable String e2bDomain;

  @Mixin private final ConfigOptions configured = new ConfigOptions();

  public ServeCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    List<String> all = new ArrayList<>();
    if (address != null) {
      all.add(ConfigKeys.SERVER_HOST.name() + "=" + address);
    }
    if (port != null) {
      all.add(ConfigKeys.SERVER_PORT.name() + "=" + port);
    }
    if (e2bDomain != null) {
      all.add(ConfigKeys.E2B_DOMAIN.name() + "=" + e2bDomain);
    }
    Config config = configured.sources(context, all).readOrThrow();
    InstantSource clock = InstantSource.system();
    ServeLog log =
        ServeLog.open(
            context.environment(), clock, config.get(ConfigKeys.LOG_FORMAT), context.errConsole());
    config.warnings().forEach(log::warning);
    try (RunningServer server = RunningServer.open(context.environment(), config, clock, log)) {
      server.await();
    }
    return ExitCodes.OK;
  }
}
