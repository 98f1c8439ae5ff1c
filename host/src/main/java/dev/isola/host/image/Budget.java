package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/** The remainder of {@link ImageLimits} while an image is unpacked. */
final class Budget {
  private final ImageLimits limits;
  private long bytes;
  private long entries;

  Budget(ImageLimits limits) {
    this.limits = limits;
  }

  void takeEntry() {
    if (++entries > limits.entries()) {
      throw over("more than " + limits.entries() + " files");
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
