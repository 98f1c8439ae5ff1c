package dev.isola.spi.capability;

import dev.isola.spi.capability.Forking.ForkPoint;
import java.io.InputStream;

/**
 * Creates sandboxes that continue the processes of this one: memory, pipes, terminals, open files
 * and loopback connections go on in the source and in every fork, and each has its own copy of all
 * files. Executions keep their ids, so that a client can attach to them in a fork.
 *
 * <p>A fork has another id, another secret, its own users, the right time and another state of the
 * kernel's random number generator, and no process of it runs before the provider has verified
 * that. Generators inside of programs continue with the same numbers in every fork.
 */
public non-sealed interface MemoryForking extends Capability {
  /** The processes and files of a sandbox at one moment. */
  interface MemoryForkPoint extends ForkPoint {
    /**
     * Returns all of it as a tar archive of regular files, from which {@link
     * dev.isola.spi.provider.Provider#openForkPoint} restores it, also in another process or on
     * another machine with the same runtime. It contains everything that was in memory, secrets
     * included. Called at most once; the caller closes it before the fork point.
     */
    InputStream archive();
  }

  /**
   * Saves the processes and files of this sandbox at one moment. They are frozen meanwhile and
   * continue in every case. {@link ForkPoint#create} requires a spec that differs from the one of
   * this sandbox only in its id, environment, labels and deadline; commands started in the fork get
   * that environment.
   *
   * @throws dev.isola.spi.error.Conflict if the sandbox holds something that cannot be saved; the
   *     message names it
   * @throws dev.isola.spi.error.Unsupported if the sandbox uses a network, or a folder of the host
   */
  MemoryForkPoint createForkPoint();
}
