package dev.isola.link.local;

import dev.isola.spi.Health;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;

/** The part of a local provider that is its own: how a sandbox is booted. */
public interface Booter {

  /**
   * What is to be booted. The intent is written down and the folder exists.
   *
   * @param patience how long it may take
   */
  record Booting(SandboxSpec spec, SandboxRecord record, SandboxFolder folder, Duration patience) {}

  /** Describes the provider on this machine. Called once. */
  ProviderInfo info();

  /** Returns the capabilities of {@link #info()}, without finding out the rest. */
  Set<Class<? extends Capability>> capabilities();

  /** Tells whether a sandbox could be booted now. Fast, leaves nothing behind. */
  Health health();

  /**
   * Refuses a spec that cannot be honoured, by name, before anything is made.
   *
   * @throws dev.isola.spi.error.Unsupported naming what the provider does not do
   */
  void refuse(SandboxSpec spec);

  /**
   * Boots a sandbox: starts an agent that listens on {@code folder.socket()} and knows the record's
   * secret. Returns once it listens. When this throws, {@link #release} follows.
   */
  AgentProcess boot(Booting booting) throws IOException;

  /**
   * Gives back what booting took besides processes and the folder (mounts, cgroups, networks).
   * Called when no process of the sandbox is left; may be repeated, also by another process, and
   * for a sandbox whose boot failed half-way.
   */
  void release(SandboxFolder folder) throws IOException;
}
