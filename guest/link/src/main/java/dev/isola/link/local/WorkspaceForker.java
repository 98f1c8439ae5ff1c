package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Shares the files of the workspace of a sandbox with new sandboxes. */
public interface WorkspaceForker {

  /**
   * The files of a workspace at one point in time.
   *
   * @param layers read-only layers, topmost first
   * @param leaseId identifies the lease that keeps them until {@link #release}
   * @param pausedFor how long the sandbox was frozen
   */
  record FrozenLayers(List<String> layers, String leaseId, Duration pausedFor) {
    public FrozenLayers {
      layers = List.copyOf(layers);
    }
  }

  /**
   * Freezes the current files of a workspace as layers, from which {@link Booter#boot} creates
   * sandboxes.
   *
   * @throws dev.isola.spi.error.Conflict when a process in the sandbox uses them, naming the
   *     process
   */
  FrozenLayers freeze(SandboxId id, SandboxFolder folder, AgentProcess agent) throws IOException;

  /** Releases layers; no more sandboxes are created from them. */
  void release(FrozenLayers frozen) throws IOException;
}
