package dev.isola.link.local;

import dev.isola.link.AgentSandbox;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.StateTransition;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Pauses local sandboxes: in memory if the booter has a freezer, or to the file system, if it has a
 * restarter, by ending the processes and restarting later. The freezer and the record hold the
 * state, so that every process of the instance sees the same.
 */
final class LocalPausing {
  private final Booter booter;
  private final SandboxRecordStore store;
  private final SandboxLocks locks;
  private final Map<SandboxId, AgentSandbox> attached;
  private final Supplier<String> provider;

  /**
   * @param provider the name of the provider, for errors
   */
  LocalPausing(
      Booter booter,
      SandboxRecordStore store,
      SandboxLocks locks,
      Map<SandboxId, AgentSandbox> attached,
      Supplier<String> provider) {
    this.booter = booter;
    this.store = store;
    this.locks = locks;
    this.attached = attached;
    this.provider = provider;
  }

  /** Returns the kinds of pauses that are possible; empty if sandboxes cannot be paused. */
  Set<PauseKind> kinds() {
    Set<PauseKind> kinds = EnumSet.noneOf(PauseKind.class);
    booter.freezer().ifPresent(_ -> kinds.add(PauseKind.MEMORY));
    booter.restarter().ifPresent(_ -> kinds.add(PauseKind.FILESYSTEM));
    return kinds;
  }

  /** The pausing capability of one sandbox. */
  private final class SandboxPausing implements Pausing {
    private final SandboxId id;

    private SandboxPausing(SandboxId id) {
      this.id = id;
    }

    @Override
    public Set<PauseKind> kinds() {
      return LocalPausing.this.kinds();
    }

    @Override
    public void pause(PauseKind kind) {
      if (!kinds().contains(kind)) {
        throw Capability.unsupported(
            provider.get(),
            kind == PauseKind.MEMORY
                ? "pausing in memory on this machine"
                : "pausing to the file system");
      }
      locks.withLock(
          id,
          () -> {
            if (kind == PauseKind.MEMORY) {
              freeze(id, need(id));
            } else {
              stop(id, need(id));
            }
            return id;
          });
    }

    @Override
    public void resume() {
      locks.withLock(
          id,
          () -> {
            LocalPausing.this.resume(id, need(id));
            return id;
          });
    }
  }

  /** Returns the pausing capability of a sandbox. */
  Pausing of(SandboxId id) {
    return new SandboxPausing(id);
  }

  /** Returns the state of a live or stopped sandbox. */
  SandboxState stateOf(SandboxRecord record) {
    if (record.stopped()) {
      return SandboxState.STOPPED;
    }
    return isFrozen(record.id()) ? SandboxState.PAUSED : SandboxState.RUNNING;
  }

  private boolean isFrozen(SandboxId id) {
    return booter.freezer().filter(freezer -> freezer.isFrozen(id)).isPresent();
  }

  private AgentSandbox need(SandboxId id) {
    AgentSandbox sandbox = attached.get(id);
    if (sandbox == null || sandbox.state() == SandboxState.DESTROYED) {
      throw Fault.of(
              ErrorCode.SANDBOX_DESTROYED, "sandbox " + id + " is gone", "create a new sandbox")
          .sandbox(id)
          .exception();
    }
    return sandbox;
  }

  private void freeze(SandboxId id, AgentSandbox sandbox) {
    if (sandbox.state() == SandboxState.PAUSED) {
      return;
    }
    StateTransition.check(sandbox.state(), SandboxState.PAUSED, id);
    sandbox.setState(SandboxState.PAUSED); // first, so that its silence does not count as its end
    try {
      booter.freezer().orElseThrow().freeze(id);
    } catch (IOException e) {
      sandbox.setState(SandboxState.RUNNING);
      throw failed(id, "frozen", e);
    }
  }

  /** Thaws a frozen sandbox; does nothing to any other. */
  void thaw(SandboxId id, AgentSandbox sandbox) {
    try {
      if (isFrozen(id)) {
        booter.freezer().orElseThrow().thaw(id);
      }
      if (sandbox.state() == SandboxState.PAUSED) {
        sandbox.setState(SandboxState.RUNNING);
      }
    } catch (IOException e) {
      throw failed(id, "thawed", e);
    }
  }

  private void stop(SandboxId id, AgentSandbox sandbox) {
    if (sandbox.state() == SandboxState.STOPPED) {
      return;
    }
    StateTransition.check(sandbox.state(), SandboxState.STOPPED, id);
    StoredSandbox stored = stored(id);
    try {
      stored.record().withStopped().write(stored.folder().record());
    } catch (IOException e) {
      throw failed(id, "stopped", e);
    }
    sandbox.stop();
    new SandboxTerminator(stored.record(), sandbox).awaitStop(DestroyOptions.NORMAL);
  }

  private void resume(SandboxId id, AgentSandbox sandbox) {
    if (sandbox.state() != SandboxState.STOPPED) {
      thaw(id, sandbox);
      return;
    }
    StoredSandbox stored = stored(id);
    if (!stored.record().stopped()) { // another process has resumed it
      sandbox.setState(SandboxState.RUNNING);
      sandbox.ping();
      return;
    }
    AgentProcess agent;
    try {
      agent =
          booter
              .restarter()
              .orElseThrow()
              .restart(id, stored.folder(), SandboxSpec.DEFAULT_STARTUP_TIMEOUT);
      stored.record().withAgent(agent).write(stored.folder().record());
    } catch (IOException e) {
      throw failed(id, "restarted", e);
    }
    sandbox.setState(SandboxState.RUNNING);
    sandbox.ping();
    try {
      booter.verify(new Booter.BootedSandbox(sandbox, stored.folder(), agent));
    } catch (SandboxException e) {
      stop(id, sandbox); // nothing may run in it unless its isolation is verified
      throw e;
    }
  }

  private StoredSandbox stored(SandboxId id) {
    return store
        .find(id)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.SANDBOX_DESTROYED,
                        "sandbox " + id + " is gone",
                        "create a new sandbox")
                    .sandbox(id)
                    .exception());
  }

  private static SandboxException failed(SandboxId id, String action, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + id + " cannot be " + action + ": " + e.getMessage(),
            "try again, or destroy it")
        .sandbox(id)
        .exception(e);
  }
}
