package dev.isola.app.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.Providers;
import dev.isola.codec.json.Json;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.config.Config;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;

/**
 * Implements {@code microvmctl probe}: tells whether a create would work, and why not. Starts no
 * server.
 */
@Command(name = "probe", description = "Tell whether sandboxes can be created, as JSON.")
final class ProbeVerb implements CliCommand {
  private final CommandContext context;

  ProbeVerb(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Config config = ControllerServer.config(context);
    String backend = ControllerServer.backend(config);
    Map<String, Object> result = new LinkedHashMap<>();
    try (Providers providers = context.providers(config, ControllerServer.folder(config))) {
      ProviderStatus status = providers.status(backend);
      result.put("ok", status.health().usable());
      result.put("provider", backend);
      status
          .info()
          .ifPresent(
              info -> {
                result.put("isolation", info.isolation().name().toLowerCase(Locale.ROOT));
                result.put("accelerated", info.accelerated());
                result.put("startupMs", info.startup().toMillis());
              });
      switch (status.health()) {
        case Health.Healthy(String detail) -> result.put("detail", detail);
        case Health.Degraded(String reason, String fix) -> {
          result.put("degraded", true);
          result.put("reason", reason);
          result.put("fix", fix);
        }
        case Health.Unhealthy(String reason, String fix) -> {
          result.put("reason", reason);
          result.put("fix", fix);
        }
      }
      result.put("features", List.of("exec-stdin", "create-workspace"));
      context.environment().out().write((Json.text(result) + "\n").getBytes(UTF_8));
      context.environment().out().flush();
      return status.health().usable() ? ExitCodes.OK : ExitCodes.FAILED;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.EXECUTION_FAILED,
              "the result cannot be written: " + IoErrors.describe(e),
              "read the output to its end")
          .exception(e);
    }
  }
}
