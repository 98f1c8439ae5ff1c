package dev.isola.snapshot;

/** A part of a sparse file that is there. */
public record Extent(long offset, long length) {
  public Extent {
    if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException("a part of a file cannot be at " + offset);
    }
  }

  /** Returns the offset behind it. */
  public long end() {
    return offset + length;
  }
}
