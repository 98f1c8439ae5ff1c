package dev.isola.app.backup;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ConfigOptions;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.serve.LedgerLocation;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.reconcile.RestoreGaps;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola restore}. */
@Command(
    name = "restore",
    description = {
      "Restore an installation from a file that isola backup has written.",
      "The server must be stopped. Nothing that exists is removed. Without --replace the result is",
      "a copy with an id of its own, which does not manage the sandboxes of the original."
    })
public final class RestoreCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(paramLabel = "FILE", arity = "0..1", description = "The archive to restore.")
  private @Nullable String name;

  @Option(
      names = "--replace",
      description = {
        "Take the place of the original, with its id and its sandboxes. An existing ledger is",
        "renamed. Refused while a process of this machine uses the original."
      })
  private boolean replace;

  @Option(
      names = "--mark-gap",
      paramLabel = "TIME",
      description = {
        "After pg_restore has restored a ledger in PostgreSQL: leave the sandboxes that were",
        "created since TIME, when the backup of the database began, until they expire. Needs no",
        "FILE and no data folder."
      })
  private @Nullable String gapSince;

  @Option(
      names = "--destroy-unrecorded",
      description = {
        "Let the next server destroy the sandboxes that were created between the backup and the",
        "restore. Without it they are left running. Needs no FILE."
      })
  private boolean destroyUnrecorded;

  @Mixin private final ConfigOptions configured = new ConfigOptions();

  public RestoreCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    if (name == null && !destroyUnrecorded && gapSince == null) {
      throw new UsageException("no backup is named", "use isola restore FILE");
    }
    if (gapSince != null && (name != null || destroyUnrecorded)) {
      throw new UsageException(
          "--mark-gap is for a ledger that another program has restored",
          "use it alone; isola restore FILE marks the gap of its backup itself");
    }
    Optional<Instant> since = Optional.ofNullable(gapSince).map(RestoreCommand::time);
    Config config = configured.sources(context).readOrThrow();
    if (name != null) {
      Path archive = Path.of(name).toAbsolutePath().normalize();
      report(new Restore(config, replace, InstantSource.system()).from(archive));
    }
    since.ifPresent(time -> markGap(config, time));
    if (destroyUnrecorded) {
      DataFolder data = new DataFolder(config.get(ConfigKeys.DATA));
      try (Ledger ledger = Ledgers.open(LedgerLocation.of(config, data))) {
        RestoreGaps.forget(ledger);
      }
      context.console().printErr("the next server destroys sandboxes that are not recorded");
    }
    return ExitCodes.OK;
  }

  private static Instant time(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      throw new UsageException(
          "--mark-gap " + text + " is not a time with a zone",
          "use a form such as 2026-01-31T02:00:00Z or 2026-01-31T03:00:00+01:00");
    }
  }

  private void markGap(Config config, Instant since) {
    if (config.get(ConfigKeys.STORE_URL).isEmpty()) {
      throw new UsageException(
          "--mark-gap needs a ledger in PostgreSQL, and store.url is not set",
          "set it as for the servers (ISOLA_STORE_URL or --config); for a ledger in SQLite use"
              + " isola restore FILE");
    }
    InstantSource clock = InstantSource.system();
    // Alone, even if the configuration is that of one of several servers: none may run.
    LedgerConfig location = LedgerLocation.ofOneServer(config);
    try (Ledger ledger = Ledgers.open(location)) {
      new LedgerGap(ledger, clock).mark(since);
    }
    context
        .console()
        .printErr("sandboxes that were created since " + since + " are left until they expire");
  }

  private void report(Restore.Result result) {
    Console console = context.console();
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("createdAt", result.createdAt().toString());
      json.put("instance", result.instance());
      json.put("kept", result.kept());
      console.print(json);
      return;
    }
    console.print(
        "restored the backup of "
            + result.createdAt()
            + (replace ? "" : " as a copy")
            + ", installation "
            + result.instance()
            + "\n");
    if (!result.kept().isEmpty()) {
      console.print("already there and kept: " + String.join(", ", result.kept()) + "\n");
    }
    console.print("API keys that were removed after the backup are valid again\n");
  }
}
