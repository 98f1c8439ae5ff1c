package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import java.util.Optional;
import java.util.Set;

/** The method of suspending a sandbox. */
enum SuspensionMethod {
  /** The provider freezes its memory. */
  PAUSE_MEMORY,
  /** Its processes end; the provider keeps its files. */
  PAUSE_FILESYSTEM,
  /**
   * Its files, and its processes where the provider can save them, are stored as a snapshot, and it
   * is destroyed at the provider.
   */
  SNAPSHOT;

  /**
   * Returns the method for an action; empty if the sandbox supports none. Pure.
   *
   * @param snapshots whether the sandbox supports snapshots
   * @param kinds the kinds of pause that the sandbox supports
   */
  static Optional<SuspensionMethod> of(
      ExpiryAction action, boolean snapshots, Set<PauseKind> kinds) {
    Optional<SuspensionMethod> filesystem =
        kinds.contains(PauseKind.FILESYSTEM) ? Optional.of(PAUSE_FILESYSTEM) : Optional.empty();
    return switch (action) {
      case DESTROY -> Optional.empty();
      case PAUSE -> kinds.contains(PauseKind.MEMORY) ? Optional.of(PAUSE_MEMORY) : filesystem;
      case STOP -> filesystem;
      case SNAPSHOT -> snapshots ? Optional.of(SNAPSHOT) : filesystem;
    };
  }

  /** Returns the state of a sandbox suspended by this method. */
  SandboxState state() {
    return this == PAUSE_MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
  }
}
