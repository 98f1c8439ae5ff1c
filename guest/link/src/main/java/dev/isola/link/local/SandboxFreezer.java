package dev.isola.link.local;

import java.io.IOException;

/** Freezes and thaws the processes of one sandbox. */
public interface SandboxFreezer {
  /** Returns once no process runs any more. */
  void freeze() throws IOException;

  void thaw() throws IOException;

  boolean isFrozen();
}
