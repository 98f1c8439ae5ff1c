package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Sandbox;
import dev.isola.store.SandboxEntry;

/** Stores the files, and where possible the processes, of sandboxes suspended by snapshot. */
public interface SuspensionStorage {
  /**
   * Saves a running sandbox.
   *
   * @return the id of the snapshot
   */
  String save(SandboxEntry entry);

  /**
   * A restored sandbox.
   *
   * @param continued whether its processes continue; otherwise it has only the files
   */
  record RestoredSandbox(Sandbox sandbox, boolean continued) {}

  /** Creates a sandbox with the same id from a snapshot. If this throws, no sandbox is left. */
  RestoredSandbox restore(SandboxEntry entry, String snapshot);

  /** Deletes a snapshot. Idempotent. */
  void delete(String snapshot);
}
