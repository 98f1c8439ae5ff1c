package dev.isola.snapshot;

/** A range of a sparse file that holds data. */
public record Extent(long offset, long length) {
  public Extent {
    if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException("invalid extent at " + offset);
    }
  }

  /** Returns the offset after the last byte. */
  public long end() {
    return offset + length;
  }
}
