package dev.isola.engine;

import dev.isola.store.PostgresTestDatabase;
import dev.isola.store.TestDatabase;
import org.junit.jupiter.api.Nested;

/** All engine tests with a ledger, on PostgreSQL. */
class PostgresEngineTest {
  @Nested
  class EngineSuite extends EngineTest {
    @Override
    TestDatabase database() {
      return new PostgresTestDatabase();
    }
  }

  @Nested
  class PoolSuite extends PoolScenariosTest {
    @Override
    TestDatabase database() {
      return new PostgresTestDatabase();
    }
  }
}
