package dev.isola.host.launch;

import dev.isola.spi.spec.ResourceLimits;

/**
 * What a kernel in user space takes for itself, which is not the sandbox's to use: its control
 * groups allow that much more.
 */
final class OwnKernel {
  private static final int MEMORY_MB = 64;

  /** Threads of the kernel, and those it keeps for each process of the sandbox. */
  private static final int THREADS = 256;

  private static final int THREADS_EACH = 4;

  private OwnKernel() {}

  static ResourceLimits charged(ResourceLimits asked) {
    return asked
        .withMemoryMb(asked.memoryMb() + MEMORY_MB)
        .withProcesses(Math.multiplyExact(asked.processes(), THREADS_EACH) + THREADS);
  }
}
