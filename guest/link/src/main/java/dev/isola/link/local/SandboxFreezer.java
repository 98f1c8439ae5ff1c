package dev.isola.link.local;

import java.io.IOException;

/** Stops the processes of one sandbox where they are, and lets them go on. */
public interface SandboxFreezer {
  /** Returns once nothing runs any more. */
  void freeze() throws IOException;

  void thaw() throws IOException;

  boolean isFrozen();
}
