package dev.isola.engine.crash;

import dev.isola.store.LedgerConfig;
import dev.isola.store.PostgresTestDatabase;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** Crash tests on PostgreSQL. */
@Tag("all")
class PostgresCrashTest extends EngineCrashContract {
  private final PostgresTestDatabase database = new PostgresTestDatabase();
  private final LedgerConfig config = database.fresh();

  @Override
  List<String> ledger() {
    LedgerConfig.Server server = (LedgerConfig.Server) config.location();
    return List.of(server.url(), server.schema());
  }

  @AfterEach
  void remove() {
    database.remove(config);
  }
}
