package dev.isola.host.launch;

import dev.isola.spi.spec.ResourceLimits;

/**
 * The resources that a kernel in user space needs for itself, which its control groups must allow
 * in addition to the sandbox's limits.
 */
public final class KernelOverhead {
  private static final int MEMORY_MB = 64;

  /**
   * Threads of the kernel itself and per process of the sandbox. gVisor's platform {@code ptrace}
   * keeps one for every pair of a process and one of its own threads that ever ran it, and ends the
   * whole sandbox if it cannot create one. This limit protects the host; it does not enforce the
   * sandbox's own.
   */
  private static final int THREADS = 1024;

  private static final int THREADS_PER_PROCESS = 64;

  /** The maximum of the host's kernel. */
  private static final int MAX_THREADS = 1 << 22;

  private KernelOverhead() {}

  /** Returns the limits of the control groups. */
  public static ResourceLimits addTo(ResourceLimits asked) {
    return asked
        .withMemoryMb(asked.memoryMb() + MEMORY_MB)
        .withThreads(
            (int)
                Math.min(
                    MAX_THREADS,
                    (long) asked.processes() * THREADS_PER_PROCESS + asked.threads() + THREADS));
  }
}
