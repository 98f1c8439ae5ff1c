package dev.isola.spi.file;

/** The part of a file to read. */
public record ReadRange(long offset, long length) {
  public static final ReadRange ALL = new ReadRange(0, Long.MAX_VALUE);

  public ReadRange {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("a range starts at 0 or later and has no negative length");
    }
  }
}
