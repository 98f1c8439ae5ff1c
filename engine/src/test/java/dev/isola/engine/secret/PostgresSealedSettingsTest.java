package dev.isola.engine.secret;

import dev.isola.store.PostgresTestDatabase;
import dev.isola.store.TestDatabase;

/** Encrypted settings in PostgreSQL. */
class PostgresSealedSettingsTest extends SealedSettingsTest {
  @Override
  TestDatabase database() {
    return new PostgresTestDatabase();
  }
}
