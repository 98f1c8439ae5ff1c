package dev.isola.store;

import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** The suites of the real ledgers, except those of volumes, templates, migrations and crashes. */
class InMemoryLedgerTest {

  /** The suites open their ledgers through {@link Ledgers}, which knows no ledger in memory. */
  private static final TestDatabase UNUSED =
      new TestDatabase() {
        @Override
        public LedgerConfig fresh() {
          return LedgerConfig.sqlite(Path.of("unused"));
        }

        @Override
        public void remove(LedgerConfig config) {}
      };

  private static Ledger open(LedgerConfig config) {
    return new InMemoryLedger(config.keyRetention(), true, InstantSource.system());
  }

  @Nested
  class OfSandboxes extends SandboxEntriesContract {
    OfSandboxes() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}

    @Override
    void reopen() {}
  }

  @Nested
  class OfExpiryAndPool extends ExpiryAndPoolContract {
    OfExpiryAndPool() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}
  }

  @Nested
  class OfEvents extends LedgerEventsContract {
    OfEvents() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}

    @Override
    void reopen() {}
  }

  @Nested
  class OfKeysAndSettings extends KeysAndSettingsContract {
    OfKeysAndSettings() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}

    @Override
    void reopen() {}
  }

  @Nested
  class OfRaces extends ConcurrencyContract {
    OfRaces() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}
  }

  @Nested
  class OfServers extends ServersContract {
    OfServers() {
      super(UNUSED);
    }

    @Override
    @BeforeEach
    void open() {
      config = UNUSED.fresh();
      ledger = InMemoryLedgerTest.open(config);
    }

    @Override
    @AfterEach
    void remove() {}
  }
}
