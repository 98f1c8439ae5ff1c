package dev.isola.spi.capability;

import java.util.Set;

/** Pauses and resumes a sandbox. Both are idempotent. */
public non-sealed interface Pausing extends Capability {
  enum PauseKind {
    /** Processes are frozen and go on where they were. */
    MEMORY,
    /** Files are kept, processes end. */
    FILESYSTEM
  }

  Set<PauseKind> kinds();

  /** Pauses; returns once nothing runs any more. */
  void pause(PauseKind kind);

  /** Makes it run again, from whichever pause. */
  void resume();
}
