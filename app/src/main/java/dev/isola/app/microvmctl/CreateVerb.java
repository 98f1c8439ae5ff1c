package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.codec.json.Json;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code microvmctl create}. */
@Command(name = "create", description = "Create a sandbox that ends after --ttl-ms.")
final class CreateVerb extends SandboxVerb {
  /** The home directory that the examples of the contract use. */
  private static final String HOME = "/home/user";

  private static final long MAX_TTL_MS = Duration.ofDays(30).toMillis();

  @Option(
      names = "--ttl-ms",
      paramLabel = "MS",
      required = true,
      description = "Lifetime in milliseconds, at most 30 days.")
  private long ttl;

  @Option(
      names = "--workspace",
      paramLabel = "PATH",
      description = "Working folder of commands, and their HOME. Default: ${DEFAULT-VALUE}.")
  private String workspace = HOME;

  CreateVerb(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola) {
    if (ttl < 1 || ttl > MAX_TTL_MS) {
      throw new UsageException(
          "--ttl-ms " + ttl + " is out of range", "use 1 to " + MAX_TTL_MS + " milliseconds");
    }
    SandboxInfo created =
        isola.createAndDescribe(
            SandboxSpec.builder()
                .name(id())
                .provider(ControllerServer.backend(ControllerServer.config(context)))
                .strictNoFallback()
                .set("workspaceMount", workspace)
                .env("HOME", workspace)
                .ttl(Duration.ofSeconds(Math.ceilDiv(ttl, 1000L)))
                .build());
    context
        .console()
        .print(
            Json.object(
                "id", id(), "provider", created.provider(), "isolation", created.isolation()));
    return ExitCodes.OK;
  }
}
