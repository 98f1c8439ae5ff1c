package dev.isola.spi;

/** The limits a provider may enforce. What it does not declare as enforced, it does not enforce. */
public enum LimitKind {
  CPU,
  MEMORY,
  DISK,
  FILE_DESCRIPTORS,
  PROCESSES,
  /** Of all processes together. */
  THREADS,
  BANDWIDTH,
  /**
   * Inotify instances and pseudo-terminals, which the kernel counts for the whole machine or for
   * each of its users. No spec sets a figure: enforced means that one sandbox cannot use up those
   * of the machine.
   */
  KERNEL_OBJECTS,
  /** The default timeout of commands. */
  TIMEOUT
}
