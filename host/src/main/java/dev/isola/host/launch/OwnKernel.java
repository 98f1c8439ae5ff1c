package dev.isola.host.launch;

import dev.isola.spi.spec.ResourceLimits;

/**
 * What a kernel in user space takes for itself, which is not the sandbox's to use: its control
 * groups allow that much more.
 */
public final class OwnKernel {
  private static final int MEMORY_MB = 64;

  /**
   * Threads of the kernel, and those it keeps for each process of the sandbox. gVisor's platform
   * {@code ptrace} keeps one for every pair of a process and a thread of its own that ever ran it,
   * and one that is refused is the end of the whole sandbox: what is allowed here is there to save
   * the machine, not to hold the sandbox to its number.
   */
  private static final int THREADS = 1024;

  private static final int THREADS_EACH = 64;

  /** More the kernel of the host does not count. */
  private static final int MOST = 1 << 22;

  private OwnKernel() {}

  /** Returns what its control groups have to allow. */
  public static ResourceLimits charged(ResourceLimits asked) {
    return asked
        .withMemoryMb(asked.memoryMb() + MEMORY_MB)
        .withThreads(
            (int)
                Math.min(
                    MOST, (long) asked.processes() * THREADS_EACH + asked.threads() + THREADS));
  }
}
