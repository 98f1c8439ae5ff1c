package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.concurrent.atomic.AtomicLong;

/** The remainder of {@link ImageLimits} while an image is unpacked. */
final class Budget implements AutoCloseable {
  /** The most bytes of names and attributes of an image, which are in memory. */
  static final long MAX_TEXT = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4);

  /** The same of all images that are unpacked at once. */
  private static final long MAX_TOTAL_TEXT = MAX_TEXT * 3 / 2;

  private static final AtomicLong TOTAL_TEXT = new AtomicLong();

  /** What a name takes in memory beyond its bytes. */
  private static final int OVERHEAD = 128;

  private final ImageLimits limits;
  private final long maxText;
  private long bytes;
  private long text;
  private long entries;

  Budget(ImageLimits limits) {
    this(limits, MAX_TEXT);
  }

  Budget(ImageLimits limits, long maxText) {
    this.limits = limits;
    this.maxText = maxText;
  }

  void takeEntry() {
    if (++entries > limits.entries()) {
      throw over("more than " + limits.entries() + " files");
    }
  }

  /** Takes a name, or an attribute, that is remembered while the image is unpacked. */
  void takeText(long length) {
    text += OVERHEAD + length;
    long total = TOTAL_TEXT.addAndGet(OVERHEAD + length);
    if (text > maxText) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the names of the files of the image and the attributes of its folders have more"
                  + " than "
                  + maxText
                  + " bytes",
              "use an image with fewer files, or give the server more memory")
          .exception();
    }
    if (total > MAX_TOTAL_TEXT) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the names of the files of all images that are being unpacked have more than "
                  + MAX_TOTAL_TEXT
                  + " bytes",
              "try again when the others are finished, or give the server more memory")
          .exception();
    }
  }

  /** Returns what names and attributes took. */
  @Override
  public void close() {
    TOTAL_TEXT.addAndGet(-text);
    text = 0;
  }

  void takeBytes(long count) {
    bytes += count;
    needBytes(0);
  }

  /** Rejects content that exceeds the limit before any of it is written. */
  void needBytes(long count) {
    if (count > limits.bytes() - bytes) {
      throw over("more than " + limits.bytes() + " bytes unpacked");
    }
  }

  private static SandboxException over(String what) {
    return Fault.of(
            ErrorCode.RESOURCE_LIMIT,
            "the image has " + what,
            "raise --max-size or --max-files if the image is trusted")
        .exception();
  }
}
