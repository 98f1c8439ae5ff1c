package dev.isola.spi.spec;

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
  /** The default timeout of commands. */
  TIMEOUT
}
