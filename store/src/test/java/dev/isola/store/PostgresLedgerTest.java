package dev.isola.store;

import org.junit.jupiter.api.Nested;

/** All suites on PostgreSQL. */
class PostgresLedgerTest {
  private static final TestDatabase POSTGRESQL = new PostgresTestDatabase();

  @Nested
  class OfSandboxes extends SandboxEntriesContract {
    OfSandboxes() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfExpiryAndPool extends ExpiryAndPoolContract {
    OfExpiryAndPool() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfEvents extends LedgerEventsContract {
    OfEvents() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfKeysAndSettings extends KeysAndSettingsContract {
    OfKeysAndSettings() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfMigrations extends MigrationsContract {
    OfMigrations() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfVolumes extends VolumesContract {
    OfVolumes() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfTemplates extends TemplatesContract {
    OfTemplates() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfServers extends ServersContract {
    OfServers() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfRaces extends ConcurrencyContract {
    OfRaces() {
      super(POSTGRESQL);
    }
  }

  @Nested
  class OfCrashes extends LedgerCrashContract {
    OfCrashes() {
      super(POSTGRESQL);
    }
  }
}
