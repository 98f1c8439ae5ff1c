package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import java.util.Optional;
import java.util.Set;

/** How a sandbox is suspended. */
enum SuspensionMethod {
  /** Its memory is frozen at its provider. */
  PAUSE_MEMORY,
  /** Its processes end, and its provider keeps its files. */
  PAUSE_FILESYSTEM,
  /** A snapshot keeps its files, and it is destroyed at its provider. */
  SNAPSHOT;

  /**
   * Returns the method for an action; empty when the sandbox has none of them. Pure.
   *
   * @param snapshots whether snapshots can be taken of the sandbox
   * @param kinds how the sandbox can be paused
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

  /** Returns the state of a sandbox that is suspended this way. */
  SandboxState state() {
    return this == PAUSE_MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
  }
}
