package dev.isola.server.wrong;

import dev.isola.store.Ledger;

/** Violates a dependency rule: the server reads the ledger only through engine.api. */
final class LedgerReader {
  Class<?> forbidden() {
    return Ledger.class;
  }
}
