package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import java.io.IOException;

/** Freezes and thaws the processes of sandboxes. */
public interface SandboxFreezer {
  /** Returns once no process of the sandbox runs any more. */
  void freeze(SandboxId id) throws IOException;

  void thaw(SandboxId id) throws IOException;

  boolean isFrozen(SandboxId id);
}
