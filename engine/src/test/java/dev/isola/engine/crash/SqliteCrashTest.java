package dev.isola.engine.crash;

import java.util.List;

/** Kills on SQLite. */
class SqliteCrashTest extends CrashContract {
  @Override
  List<String> ledger() {
    return List.of();
  }
}
