package dev.isola.provider.microvmctl;

import dev.isola.link.AgentSandbox;
import dev.isola.spi.capability.Sandbox;

/** A sandbox of this process: with the guest agent, or by the verbs of the contract alone. */
sealed interface VmSandbox {
  Sandbox sandbox();

  /**
   * Checks that the sandbox answers.
   *
   * @throws dev.isola.spi.error.Gone if it no longer exists
   */
  void ping();

  void markDestroyed();

  void close();

  record WithAgent(AgentSandbox sandbox) implements VmSandbox {
    @Override
    public void ping() {
      var _ = sandbox.ping();
    }

    @Override
    public void markDestroyed() {
      sandbox.markDestroyed("it was destroyed");
    }

    @Override
    public void close() {
      sandbox.close();
    }
  }

  record ByVerbs(VerbSandbox sandbox) implements VmSandbox {
    @Override
    public void ping() {
      sandbox.ping();
    }

    @Override
    public void markDestroyed() {
      sandbox.markDestroyed();
    }

    @Override
    public void close() {
      // Each call is a process of its own.
    }
  }
}
