package dev.isola.spi.capability;

import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/**
 * Makes sandboxes whose workspace begins with the files that this one's has now, without a copy of
 * them: they share what none of them changes. What any of them writes later, nobody else sees.
 * Processes, homes and everything outside of the workspace begin anew.
 */
public non-sealed interface Forking extends Capability {
  /**
   * The files of one moment. Closing it leaves the sandboxes that were made from it as they are.
   */
  interface ForkPoint extends AutoCloseable {
    /** Returns for how long commands were held. */
    Duration frozenFor();

    /**
     * Makes a sandbox, as {@link dev.isola.spi.provider.Provider#create} does. May be called by
     * several threads at once, and when the sandbox that it came from is gone.
     */
    Sandbox create(SandboxSpec spec);

    @Override
    void close();
  }

  /**
   * Keeps the files of this moment for sandboxes to begin with. The sandbox itself goes on, and
   * does not notice.
   *
   * @throws dev.isola.spi.error.Conflict when somebody in it uses files of the workspace in a way
   *     that could not go on, naming who; a {@link Snapshotting} does not mind
   * @throws dev.isola.spi.error.Unsupported when the workspace is a folder of the caller's
   */
  ForkPoint createForkPoint();
}
