package dev.isola.engine.lifecycle;

import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.spec.SandboxSpec;

/** Carries the connections of sandboxes in network mode {@code filtered} to other hosts. */
public interface SandboxNetworks {
  /**
   * Begins to carry the connections of a sandbox, or continues after it was booted again. Does
   * nothing if its network is not filtered.
   */
  void attach(Sandbox sandbox, SandboxSpec spec, String provider);

  /**
   * Returns a measurement with the bytes that were carried for the sandbox. Inside, such a sandbox
   * has a loopback interface only.
   */
  Usage withTraffic(SandboxId id, Usage usage);

  /** Stops carrying the connections of a sandbox that is gone. */
  void detach(SandboxId id);
}
