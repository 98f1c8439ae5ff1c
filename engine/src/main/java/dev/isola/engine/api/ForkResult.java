package dev.isola.engine.api;

import dev.isola.spi.error.SandboxException;

/** The result of one fork. */
public sealed interface ForkResult {
  /** How the fork was created. */
  enum Method {
    /** It shares the files of the source copy-on-write. */
    MOUNT,
    /** Its files were restored from a snapshot. */
    RESTORE,
    /** It continues the processes of the source. */
    MEMORY
  }

  /** The fork was created. */
  record Created(SandboxView view, Method method) implements ForkResult {}

  /** The fork could not be created. */
  record Failed(SandboxException why) implements ForkResult {}
}
