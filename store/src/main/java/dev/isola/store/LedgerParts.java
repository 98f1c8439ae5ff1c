package dev.isola.store;

/** The parts of a ledger. */
public interface LedgerParts {

  SandboxEntries sandboxes();

  LedgerEvents events();

  IdempotencyKeys idempotency();

  SettingEntries settings();

  VolumeEntries volumes();

  TemplateEntries templates();

  ServerEntries servers();
}
