package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentSandbox;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.StateTransition;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * Pauses containers: in memory by the engine's pause, on disk by stopping and starting them. The
 * engine holds the state, so all processes of the instance agree: a container that was stopped on
 * purpose has a different name.
 */
final class EnginePausing {
  private static final Duration STOP = Duration.ofSeconds(5);

  private final EngineApi engine;
  private final SandboxResources sandboxResources;
  private final AgentLinks links;
  private final ContainerCreator creation;
  private final SandboxLocks turns;

  EnginePausing(
      EngineApi engine,
      SandboxResources sandboxResources,
      AgentLinks links,
      ContainerCreator creation,
      SandboxLocks turns) {
    this.engine = engine;
    this.sandboxResources = sandboxResources;
    this.links = links;
    this.creation = creation;
    this.turns = turns;
  }

  Pausing of(SandboxId id) {
    return new ContainerPausing(id);
  }

  /** The pausing capability of one sandbox. */
  private final class ContainerPausing implements Pausing {
    private final SandboxId id;

    private ContainerPausing(SandboxId id) {
      this.id = id;
    }

    @Override
    public Set<PauseKind> kinds() {
      return EnumSet.allOf(PauseKind.class);
    }

    @Override
    public void pause(PauseKind kind) {
      turns.withLock(
          id,
          () -> {
            if (kind == PauseKind.MEMORY) {
              freeze(id, links.require(id));
            } else {
              stop(id, links.require(id));
            }
            return id;
          });
    }

    @Override
    public void resume() {
      turns.withLock(
          id,
          () -> {
            EnginePausing.this.resume(id, links.require(id));
            return id;
          });
    }
  }

  private Container container(SandboxId id) {
    return sandboxResources.find(id).orElseThrow(() -> AgentLinks.gone(id));
  }

  private void freeze(SandboxId id, AgentSandbox sandbox) {
    if (sandbox.state() == SandboxState.PAUSED) {
      return;
    }
    StateTransition.check(sandbox.state(), SandboxState.PAUSED, id);
    Container container = container(id);
    sandbox.setState(SandboxState.PAUSED); // First, so that silence is not taken for its end.
    try {
      if (container.state() != SandboxState.PAUSED) {
        engine.pause(container.id());
      }
    } catch (SandboxException e) {
      sandbox.setState(SandboxState.RUNNING);
      throw e;
    }
  }

  private void stop(SandboxId id, AgentSandbox sandbox) {
    if (sandbox.state() == SandboxState.STOPPED) {
      return;
    }
    StateTransition.check(sandbox.state(), SandboxState.STOPPED, id);
    Container container = container(id);
    // Renamed first: a container that stops without the mark has ended, and its files would be
    // removed.
    if (!container.name().endsWith(ContainerLabels.STOPPED)) {
      engine.rename(container.id(), sandboxResources.name(id) + ContainerLabels.STOPPED);
    }
    sandbox.stop(STOP);
    if (!engine.awaitStop(container.id(), Deadline.in(STOP))) {
      engine.kill(container.id());
      if (!engine.awaitStop(container.id(), Deadline.in(STOP))) {
        throw failed(id, "stopped", "its container does not stop");
      }
    }
  }

  private void resume(SandboxId id, AgentSandbox sandbox) {
    Container container = container(id);
    switch (container.state()) {
      case PAUSED -> engine.unpause(container.id());
      case STOPPED -> bootAgain(id, container);
      case RUNNING -> {} // Another process resumed it, or it never paused.
      case CREATING, ERROR, TERMINATING, DESTROYED -> throw AgentLinks.gone(id);
    }
    if (sandbox.state() != SandboxState.RUNNING) {
      sandbox.setState(SandboxState.RUNNING);
      sandbox.ping();
    }
    if (container.state() == SandboxState.STOPPED) {
      try {
        creation.verifyAgain(container, sandbox);
      } catch (SandboxException e) {
        stop(id, sandbox); // Runs nothing unless verified as isolated.
        throw e;
      }
    }
    if (container.name().endsWith(ContainerLabels.STOPPED)) {
      engine.rename(container.id(), sandboxResources.name(id));
    }
  }

  private void bootAgain(SandboxId id, Container container) {
    try {
      creation.bootAgain(container, id, Deadline.in(SandboxSpec.DEFAULT_STARTUP_TIMEOUT));
    } catch (IOException e) {
      engine.kill(container.id());
      throw failed(id, "booted again", String.valueOf(e.getMessage()));
    } catch (SandboxException e) {
      engine.kill(container.id()); // Runs nothing unless reachable.
      throw e;
    }
  }

  private static SandboxException failed(SandboxId id, String what, String why) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + id + " cannot be " + what + ": " + why,
            "retry, or destroy the sandbox")
        .sandbox(id)
        .exception();
  }
}
