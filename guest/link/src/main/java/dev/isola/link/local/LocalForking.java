package dev.isola.link.local;

import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.link.local.WorkspaceForker.FrozenLayers;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Forks the files of a local sandbox.
 *
 * @param create creates a sandbox from layers
 */
record LocalForking(
    SandboxId id,
    WorkspaceForker forker,
    SandboxRecordStore store,
    SandboxLocks locks,
    BiFunction<SandboxSpec, List<String>, Sandbox> create)
    implements Forking {

  @Override
  public ForkPoint createForkPoint() {
    return locks.withLock(id, this::freeze);
  }

  private ForkPoint freeze() {
    StoredSandbox stored =
        store
            .find(id)
            .filter(found -> !found.record().stopped() && found.record().agent().isPresent())
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.CONFLICT,
                            "sandbox " + id + " is not running",
                            "resume it, or create a new one")
                        .sandbox(id)
                        .exception());
    try {
      AgentProcess agent = stored.record().agent().orElseThrow();
      return new LocalForkPoint(forker.freeze(id, stored.folder(), agent));
    } catch (IOException e) {
      throw failed("shared", e);
    }
  }

  private SandboxException failed(String action, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the files of sandbox " + id + " cannot be " + action + ": " + e.getMessage(),
            "create a snapshot and sandboxes from it")
        .sandbox(id)
        .exception(e);
  }

  private final class LocalForkPoint implements ForkPoint {
    private final FrozenLayers frozen;

    private LocalForkPoint(FrozenLayers frozen) {
      this.frozen = frozen;
    }

    @Override
    public Duration frozenFor() {
      return frozen.pausedFor();
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      return create.apply(spec, frozen.layers());
    }

    @Override
    public void close() {
      try {
        forker.release(frozen);
      } catch (IOException e) {
        throw failed("released", e);
      }
    }
  }
}
