package dev.isola.spi.file;

/** What an archive may hold before it is refused. */
public record TreeLimits(long maxBytes, long maxEntries) {
  /** 64 GiB in ten million entries. */
  public static final TreeLimits DEFAULT = new TreeLimits(64L << 30, 10_000_000);
}
