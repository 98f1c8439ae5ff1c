package dev.isola.spi;

import java.util.EnumSet;
import java.util.Set;

/** The states of a sandbox and the transitions between them. */
public enum SandboxState {
  CREATING,
  RUNNING,
  /** The processes are frozen and stay in memory. */
  PAUSED,
  /** The files are kept; the processes have ended. */
  STOPPED,
  /** The sandbox failed. It can only be destroyed. */
  ERROR,
  TERMINATING,
  /** The sandbox and all its resources are gone. */
  DESTROYED;

  /** Returns the states that this state can change to. */
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
