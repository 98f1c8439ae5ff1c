package dev.isola.link.local;

import dev.isola.link.local.Booter.FrozenLayers;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
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
 * Forks local sandboxes whose booter can share the files of a workspace.
 *
 * @param create creates a sandbox from layers
 */
record LocalForking(
    Booter booter,
    SandboxRecordStore store,
    SandboxLocks locks,
    BiFunction<SandboxSpec, List<String>, Sandbox> create) {

  /** Returns the forking capability of a sandbox. */
  Forking of(SandboxId id) {
    return () -> locks.withLock(id, () -> freeze(id));
  }

  private Forking.ForkPoint freeze(SandboxId id) {
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
      return new LocalForkPoint(id, booter.freezeLayers(id, stored.folder(), agent));
    } catch (IOException e) {
      throw failed(id, "shared", e);
    }
  }

  private static SandboxException failed(SandboxId id, String action, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the files of sandbox " + id + " cannot be " + action + ": " + e.getMessage(),
            "create a snapshot and sandboxes from it")
        .sandbox(id)
        .exception(e);
  }

  private final class LocalForkPoint implements Forking.ForkPoint {
    private final SandboxId source;
    private final FrozenLayers frozen;

    private LocalForkPoint(SandboxId source, FrozenLayers frozen) {
      this.source = source;
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
        booter.releaseLayers(frozen);
      } catch (IOException e) {
        throw failed(source, "released", e);
      }
    }
  }
}
