package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.store.SandboxEntry;

/** Stores the files of sandboxes that are suspended without being at their provider. */
public interface SuspensionStorage {
  /**
   * Stores the files of a running sandbox.
   *
   * @return the id of the snapshot that has them
   */
  String save(SandboxEntry entry);

  /** Makes a sandbox with the same id from a snapshot. When this throws there is none. */
  Sandbox restore(SandboxEntry entry, String snapshot);

  /** Deletes a snapshot. May be repeated. */
  void delete(String snapshot);
}
