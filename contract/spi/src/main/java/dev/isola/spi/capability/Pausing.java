package dev.isola.spi.capability;

import java.util.Set;

/** Pauses and resumes a sandbox. Both operations are idempotent. */
public non-sealed interface Pausing extends Capability {
  enum PauseKind {
    /** Processes are frozen in memory and continue where they were. */
    MEMORY,
    /** Files are kept; processes end. */
    FILESYSTEM
  }

  Set<PauseKind> kinds();

  /** Pauses the sandbox. Returns once no process runs. */
  void pause(PauseKind kind);

  /** Resumes the sandbox from either kind of pause. */
  void resume();
}
