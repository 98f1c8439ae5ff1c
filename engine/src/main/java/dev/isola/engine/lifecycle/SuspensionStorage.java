package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.store.SandboxEntry;

/** Stores the files of sandboxes that are suspended by snapshot. */
public interface SuspensionStorage {
  /**
   * Saves the files of a running sandbox.
   *
   * @return the id of the snapshot
   */
  String save(SandboxEntry entry);

  /** Creates a sandbox with the same id from a snapshot. If this throws, no sandbox is left. */
  Sandbox restore(SandboxEntry entry, String snapshot);

  /** Deletes a snapshot. Idempotent. */
  void delete(String snapshot);
}
