package dev.isola.snapshot;

import java.time.Duration;

/**
 * Limits of a snapshot store.
 *
 * @param memory the heap of the process, of which the store takes a share
 * @param sessions how many snapshots may be written or read at once
 * @param sessionWait how long the next one waits
 * @param collectionWait how long garbage collection waits for those in progress, while the next
 *     ones wait for it
 * @param entryBytes the most bytes of names, attributes and chunk ids of a snapshot
 * @param totalEntryBytes the same for all snapshots in progress together
 */
public record StoreLimits(
    long memory,
    int sessions,
    Duration sessionWait,
    Duration collectionWait,
    long entryBytes,
    long totalEntryBytes) {
  /** What a session may take of the heap. */
  private static final long SESSION_MEMORY = 64L << 20;

  /** The limits of a server with this heap. */
  public static final StoreLimits DEFAULT = of(Runtime.getRuntime().maxMemory());

  private static StoreLimits of(long memory) {
    return new StoreLimits(
        memory,
        Math.clamp(memory / SESSION_MEMORY, 2, 64),
        Duration.ofSeconds(60),
        Duration.ofSeconds(30),
        256L << 20,
        4L << 30);
  }

  public StoreLimits withSessions(int count, Duration wait) {
    return new StoreLimits(memory, count, wait, wait, entryBytes, totalEntryBytes);
  }

  public StoreLimits withEntryBytes(long each, long total) {
    return new StoreLimits(memory, sessions, sessionWait, collectionWait, each, total);
  }

  public StoreLimits withMemory(long bytes) {
    return new StoreLimits(
        bytes, sessions, sessionWait, collectionWait, entryBytes, totalEntryBytes);
  }
}
