package dev.isola.spi;

import java.util.EnumSet;
import java.util.Set;

/** The states of a sandbox and the only ways between them. */
public enum SandboxState {
  CREATING,
  RUNNING,
  /** Frozen with its processes in memory. */
  PAUSED,
  /** Its files are kept, its processes are gone. */
  STOPPED,
  /** It failed; only destroying it is left. */
  ERROR,
  TERMINATING,
  /** Nothing is left of it. */
  DESTROYED;

  /** Returns the states that may come next. */
  public Set<SandboxState> successors() {
    return switch (this) {
      case CREATING -> EnumSet.of(RUNNING, ERROR, TERMINATING);
      case RUNNING -> EnumSet.of(PAUSED, STOPPED, ERROR, TERMINATING);
      case PAUSED, STOPPED -> EnumSet.of(RUNNING, ERROR, TERMINATING);
      case ERROR -> EnumSet.of(TERMINATING);
      case TERMINATING -> EnumSet.of(DESTROYED, ERROR);
      case DESTROYED -> EnumSet.noneOf(SandboxState.class);
    };
  }

  public boolean canTransitionTo(SandboxState next) {
    return successors().contains(next);
  }
}
