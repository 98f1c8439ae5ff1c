package dev.isola.link.local;

import dev.isola.link.BootRecord;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** Saves running sandboxes with their processes, and creates sandboxes that continue from them. */
public interface MemoryForker {

  /**
   * The processes and files of a sandbox at one moment.
   *
   * @param folder where they are
   * @param secret the one that its agent has in memory
   */
  record SavedSandbox(Path folder, Secret secret) {}

  /**
   * A sandbox that continues from a saved one. Its commands are frozen and its agent has the
   * identity of the saved one.
   *
   * @param record the identity to give it
   */
  record RestoredSandbox(AgentProcess agent, BootRecord record) {}

  /**
   * Saves a sandbox that is held.
   *
   * @throws dev.isola.spi.error.Conflict when something in it cannot be saved, naming it
   */
  SavedSandbox save(SandboxRecord record, SandboxFolder folder) throws IOException;

  /** Returns a saved sandbox as an archive; called at most once. */
  InputStream archive(SavedSandbox saved) throws IOException;

  /** Restores the result of {@link #archive}. */
  SavedSandbox open(InputStream archive) throws IOException;

  /** Creates a sandbox that continues from a saved one, in the manner of {@link Booter#boot}. */
  RestoredSandbox restore(BootRequest request, SavedSandbox saved) throws IOException;

  /** Removes a saved sandbox; no more sandboxes are created from it. */
  void discard(SavedSandbox saved) throws IOException;
}
