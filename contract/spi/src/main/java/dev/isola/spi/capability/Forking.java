package dev.isola.spi.capability;

import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/**
 * Creates sandboxes that start with the workspace files of this one, without copying them: files
 * that no sandbox changes are shared. Writes made after the fork are visible only in the sandbox
 * that made them. Processes, home directories and all files outside the workspace start fresh.
 */
public non-sealed interface Forking extends Capability {
  /**
   * The workspace files of a sandbox at one moment. Closing a fork point does not affect the
   * sandboxes created from it.
   */
  interface ForkPoint extends AutoCloseable {
    /** Returns how long commands were frozen while the fork point was created. */
    Duration frozenFor();

    /**
     * Creates a sandbox from this fork point, as {@link dev.isola.spi.provider.Provider#create}
     * does. May be called from several threads at once, and after the source sandbox was destroyed.
     */
    Sandbox create(SandboxSpec spec);

    @Override
    void close();
  }

  /**
   * Creates a fork point with the current workspace files. The sandbox keeps running and does not
   * notice.
   *
   * @throws dev.isola.spi.error.Conflict if a process in the sandbox uses workspace files in a way
   *     that cannot continue; the message names the process. {@link Snapshotting} does not have
   *     this restriction
   * @throws dev.isola.spi.error.Unsupported if the workspace is a host folder supplied by the
   *     client
   */
  ForkPoint createForkPoint();
}
