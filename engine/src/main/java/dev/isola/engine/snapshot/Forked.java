package dev.isola.engine.snapshot;

import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;

/** What came of one fork. */
public sealed interface Forked {
  /** A sandbox. */
  record Made(SandboxEntry entry) implements Forked {}

  /** No sandbox, and why. */
  record Failed(SandboxException why) implements Forked {}
}
