package dev.isola.engine.snapshot;

import dev.isola.engine.api.SandboxView;
import dev.isola.spi.error.SandboxException;

/** The result of one fork. */
public sealed interface ForkResult {
  /** How the fork got its files. */
  enum Method {
    /** They are shared copy-on-write. */
    MOUNT,
    /** They were restored from a snapshot. */
    RESTORE
  }

  /** The fork was created. */
  record Created(SandboxView view, Method method) implements ForkResult {}

  /** The fork could not be created. */
  record Failed(SandboxException why) implements ForkResult {}
}
