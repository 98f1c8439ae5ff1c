package dev.isola.spi.exec;

/**
 * How much output of each channel is retained: the first {@code head} and the last {@code tail}
 * bytes.
 */
public record OutputLimit(int head, int tail) {
  /** One MiB per channel, half of it from each end. */
  public static final OutputLimit DEFAULT = new OutputLimit(512 * 1024, 512 * 1024);

  private static final int MAX_BYTES = 512 * 1024 * 1024;

  public OutputLimit {
    if (head < 0 || tail < 0 || head > MAX_BYTES || tail > MAX_BYTES) {
      throw new IllegalArgumentException(
          "an output limit is 0 to " + MAX_BYTES + " bytes at each end");
    }
  }
}
