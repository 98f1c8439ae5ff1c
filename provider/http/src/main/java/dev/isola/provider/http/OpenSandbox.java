package dev.isola.provider.http;

import dev.isola.link.AgentSandbox;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;

/** A sandbox of this process: with the guest agent, or by requests alone. */
sealed interface OpenSandbox permits OpenSandbox.ByAgent, OpenSandbox.ByRequests {
  Sandbox sandbox();

  /**
   * Checks that the sandbox answers.
   *
   * @throws dev.isola.spi.error.Gone if it no longer exists
   */
  void ping();

  /** Records what the backend says of it. */
  void setState(SandboxState state);

  void markDestroyed();

  void close();

  /** Reached over a channel. */
  record ByAgent(AgentSandbox sandbox) implements OpenSandbox {
    @Override
    public void ping() {
      var _ = sandbox.ping();
    }

    @Override
    public void setState(SandboxState state) {
      if (sandbox.state() != state && sandbox.state() != SandboxState.DESTROYED) {
        sandbox.setState(state);
      }
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

  /** Reached by one request for each command and file. */
  record ByRequests(SimpleSandbox sandbox) implements OpenSandbox {
    @Override
    public void ping() {
      // The caller has just asked the backend for it.
    }

    @Override
    public void setState(SandboxState state) {
      sandbox.setState(state);
    }

    @Override
    public void markDestroyed() {
      sandbox.setState(SandboxState.DESTROYED);
    }

    @Override
    public void close() {
      // Every request has a connection of its own.
    }
  }
}
