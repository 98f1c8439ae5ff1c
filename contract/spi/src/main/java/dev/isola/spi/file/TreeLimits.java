package dev.isola.spi.file;

/** The maximum size of an archive to import. */
public record TreeLimits(long maxBytes, long maxEntries) {
  /** 64 GiB and ten million entries. */
  public static final TreeLimits DEFAULT = new TreeLimits(64L << 30, 10_000_000);
}
