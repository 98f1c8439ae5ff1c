package dev.isola.spi.exec;

/**
 * How much output of each channel is retained: the first {@code head} and the last {@code tail}
 * bytes.
 */
public record OutputLimit(int head, int tail) {
  /** One MiB per channel, half of it from each end. */
  public static final OutputLimit DEFAULT = new OutputLimit(512 * 1024, 512 * 1024);

  private static final int MOST = 512 * 1024 * 1024;

  public OutputLimit {
    if (head < 0 || tail < 0 || head > MOST || tail > MOST) {
      throw new IllegalArgumentException("an output limit is 0 to " + MOST + " bytes at each end");
    }
  }
}
