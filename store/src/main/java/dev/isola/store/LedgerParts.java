package dev.isola.store;

/** The parts of a ledger. */
public interface LedgerParts {

  Sandboxes sandboxes();

  Events events();

  Idempotency idempotency();

  Settings settings();

  VolumeEntries volumes();

  TemplateEntries templates();
}
