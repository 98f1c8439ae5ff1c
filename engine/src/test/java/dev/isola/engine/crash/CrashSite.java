package dev.isola.engine.crash;

import dev.isola.spi.InstanceId;
import dev.isola.spi.Secret;
import dev.isola.store.LedgerConfig;
import java.nio.file.Path;
import java.util.List;

/**
 * The state that one engine leaves and the next one opens: instance, data folder and ledger.
 *
 * @param ledger empty for SQLite in the folder; otherwise the URL and schema of a server
 */
record CrashSite(InstanceId instance, Path folder, List<String> ledger) {
  CrashSite {
    ledger = List.copyOf(ledger);
  }

  LedgerConfig ledgerConfig() {
    if (ledger.isEmpty()) {
      return LedgerConfig.sqlite(folder.resolve("state"));
    }
    LedgerConfig.Server server =
        new LedgerConfig.Server(
            ledger.get(0),
            "postgres",
            Secret.of("postgres"),
            ledger.get(1),
            LedgerConfig.Server.DEFAULT_CONNECTIONS);
    return new LedgerConfig(
        server, LedgerConfig.DEFAULT_DEADLINE, LedgerConfig.DEFAULT_KEY_RETENTION);
  }

  Path data() {
    return folder.resolve("data");
  }
}
