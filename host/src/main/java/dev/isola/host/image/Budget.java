package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/** The remainder of {@link ImageLimits} while an image is unpacked. */
final class Budget {
  /** The most bytes of names and attributes, which are in memory: a quarter of the heap. */
  static final long MAX_TEXT = Math.max(64L << 20, Runtime.getRuntime().maxMemory() / 4);

  /** What a name takes in memory beyond its bytes. */
  private static final int OVERHEAD = 128;

  private final ImageLimits limits;
  private long bytes;
  private long text;
  private long entries;

  Budget(ImageLimits limits) {
    this.limits = limits;
  }

  void takeEntry() {
    if (++entries > limits.entries()) {
      throw over("more than " + limits.entries() + " files");
    }
  }

  /** Takes a name, or an attribute, that is remembered while the image is unpacked. */
  void takeText(long length) {
    text += OVERHEAD + length;
    if (text > MAX_TEXT) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "the names of the files of the image and the attributes of its folders have more"
                  + " than "
                  + MAX_TEXT
                  + " bytes",
              "use an image with fewer files, or give the server more memory")
          .exception();
    }
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
