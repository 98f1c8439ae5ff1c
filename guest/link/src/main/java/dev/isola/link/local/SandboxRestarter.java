package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;

/** Restarts stopped sandboxes. */
public interface SandboxRestarter {
  /** Boots a sandbox again, with the same files and the same secret. */
  AgentProcess restart(SandboxId id, SandboxFolder folder, Duration timeout) throws IOException;
}
