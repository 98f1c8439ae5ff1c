package dev.isola.host.launch;

import dev.isola.spi.spec.ResourceLimits;

/**
 * What a kernel in user space takes for itself, which is not the sandbox's to use: its control
 * groups allow that much more.
 */
public final class KernelOverhead {
  private static final int MEMORY_MB = 64;

  /**
   * Threads of the kernel, and those it keeps for each process of the sandbox. gVisor's platform
   * {@code ptrace} keeps one for every pair of a process and a thread of its own that ever ran it,
   * and one that is refused is the end of the whole sandbox: what is allowed here is there to save
   * the machine, not to hold the sandbox to its number.
   */
  private static final int THREADS = 1024;

  private static final int THREADS_PER_PROCESS = 64;

  /** More the kernel of the host does not count. */
  private static final int MAX_THREADS = 1 << 22;

  private KernelOverhead() {}

  /** Returns what its control groups have to allow. */
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
