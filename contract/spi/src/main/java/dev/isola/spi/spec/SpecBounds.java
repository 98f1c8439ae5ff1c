package dev.isola.spi.spec;

import java.util.Optional;

/** The bounds of single values of a spec. */
public final class SpecBounds {
  /** A range of whole numbers, both ends included. */
  public record Range(long least, long most) {
    /** Returns what is wrong with a value. */
    public Optional<String> problem(long value) {
      return value >= least && value <= most
          ? Optional.empty()
          : Optional.of("must be " + least + " to " + most + ": " + value);
    }
  }

  public static final double MAX_CPU = 1024;
  public static final Range MEMORY_MB = new Range(4, 64L << 20);
  public static final Range DISK_MB = new Range(1, 1L << 30);
  public static final Range FILE_DESCRIPTORS = new Range(16, 1 << 20);
  public static final Range PROCESSES = new Range(1, 1 << 22);
  public static final Range THREADS = new Range(1, 1 << 22);
  public static final Range BANDWIDTH_MBPS = new Range(1, 1 << 20);
  public static final Range GPUS = new Range(0, 64);
  public static final Range PORT = new Range(1, 65_535);
  public static final int LONGEST_IMAGE = 512;
  public static final int LONGEST_USER = 128;

  private SpecBounds() {}
}
