package dev.isola.engine.crash;

import java.util.List;

/** Crash tests on SQLite. */
class SqliteCrashTest extends EngineCrashContract {
  @Override
  List<String> ledger() {
    return List.of();
  }
}
