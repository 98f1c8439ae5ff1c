package dev.isola.store;

import org.junit.jupiter.api.Nested;

/** All suites on SQLite. */
class SqliteLedgerTest {
  private static final TestDatabase SQLITE = new SqliteTestDatabase();

  @Nested
  class OfSandboxes extends SandboxEntriesContract {
    OfSandboxes() {
      super(SQLITE);
    }
  }

  @Nested
  class OfExpiryAndPool extends ExpiryAndPoolContract {
    OfExpiryAndPool() {
      super(SQLITE);
    }
  }

  @Nested
  class OfEvents extends LedgerEventsContract {
    OfEvents() {
      super(SQLITE);
    }
  }

  @Nested
  class OfKeysAndSettings extends KeysAndSettingsContract {
    OfKeysAndSettings() {
      super(SQLITE);
    }
  }

  @Nested
  class OfMigrations extends MigrationsContract {
    OfMigrations() {
      super(SQLITE);
    }
  }

  @Nested
  class OfVolumes extends VolumesContract {
    OfVolumes() {
      super(SQLITE);
    }
  }

  @Nested
  class OfTemplates extends TemplatesContract {
    OfTemplates() {
      super(SQLITE);
    }
  }

  @Nested
  class OfServers extends ServersContract {
    OfServers() {
      super(SQLITE);
    }
  }

  @Nested
  class OfRaces extends ConcurrencyContract {
    OfRaces() {
      super(SQLITE);
    }
  }

  @Nested
  class OfCrashes extends LedgerCrashContract {
    OfCrashes() {
      super(SQLITE);
    }
  }
}
