package dev.isola.engine.snapshot;

import dev.isola.engine.api.SandboxView;
import dev.isola.spi.error.SandboxException;

/** What came of one fork. */
public sealed interface ForkResult {
  /** How its files came. */
  enum Method {
    /** They are shared, as long as nobody writes to them. */
    MOUNT,
    /** They were taken and made once more. */
    RESTORE
  }

  /** A sandbox. */
  record Created(SandboxView view, Method method) implements ForkResult {}

  /** No sandbox, and why. */
  record Failed(SandboxException why) implements ForkResult {}
}
