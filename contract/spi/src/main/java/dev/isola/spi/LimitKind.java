package dev.isola.spi;

/**
 * The resource limits that a provider may enforce. A provider enforces exactly the limits that it
 * declares.
 */
public enum LimitKind {
  CPU,
  MEMORY,
  DISK,
  FILE_DESCRIPTORS,
  PROCESSES,
  /** Threads of all processes of the sandbox together. */
  THREADS,
  BANDWIDTH,
  /**
   * Inotify instances and pseudo-terminals, which the kernel counts per machine or per user. A spec
   * sets no value for them: enforced means that one sandbox cannot exhaust those of the machine.
   */
  KERNEL_OBJECTS,
  /** The default timeout of commands. */
  TIMEOUT
}
