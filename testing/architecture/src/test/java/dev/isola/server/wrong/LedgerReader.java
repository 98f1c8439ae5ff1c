package dev.isola.server.wrong;

import dev.isola.store.Ledger;

/** Breaks the arrow of the server: it knows the ledger by engine.api only. */
final class LedgerReader {
  Class<?> arrow() {
    return Ledger.class;
  }
}
