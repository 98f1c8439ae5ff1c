package dev.isola.provider.kubernetes;

import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/** The pausing capability of a sandbox whose workspace is on a claim. */
record ClaimPausing(
    SandboxId id, PodStopper stopper, SandboxLocks locks, Supplier<PodIsolation> isolation)
    implements Pausing {
  @Override
  public Set<PauseKind> kinds() {
    return EnumSet.of(PauseKind.FILESYSTEM);
  }

  @Override
  public void pause(PauseKind kind) {
    if (kind != PauseKind.FILESYSTEM) {
      throw Capability.unsupported(KubernetesDescription.NAME, "pausing in memory");
    }
    locks.withLock(
        id,
        () -> {
          stopper.stop(id);
          return id;
        });
  }

  @Override
  public void resume() {
    locks.withLock(
        id,
        () -> {
          stopper.resume(id, isolation.get());
          return id;
        });
  }
}
