package dev.isola.engine.lifecycle;

import dev.isola.spi.Sandbox;
import dev.isola.store.SandboxEntry;

/** Keeps the files of a sandbox while there is no sandbox, and makes it once more with them. */
public interface Keeping {
  /** For an engine that keeps none. */
  Keeping NONE =
      new Keeping() {
        @Override
        public String keep(SandboxEntry entry) {
          throw new IllegalStateException("nothing is kept here");
        }

        @Override
        public Sandbox bringBack(SandboxEntry entry, String kept) {
          throw new IllegalStateException("nothing is kept here");
        }

        @Override
        public void forget(String kept) {}
      };

  /**
   * Keeps the files of a sandbox that runs.
   *
   * @return what they are kept as
   */
  String keep(SandboxEntry entry);

  /** Makes a sandbox with the same id and what was kept. When this throws there is none. */
  Sandbox bringBack(SandboxEntry entry, String kept);

  /** Throws away what was kept. May be repeated. */
  void forget(String kept);
}
