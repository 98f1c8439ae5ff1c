package dev.isola.provider.memory.file;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the bytes of all files of one sandbox and stops them at the size of the disk. */
final class Quota {
  private final long capacity;
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong peak = new AtomicLong();

  Quota(long capacity) {
    this.capacity = capacity;
  }

  void take(long bytes) {
    long now = used.addAndGet(bytes);
    if (now <= capacity) {
      peak.accumulateAndGet(now, Math::max);
    } else {
      used.addAndGet(-bytes);
      throw Fault.of(
              ErrorCode.DISK_FULL,
              "the disk of " + capacity + " bytes is full",
              "remove files, or create the sandbox with a larger disk")
          .with("resource", "disk")
          .with("limit", Long.toString(capacity))
          .exception();
    }
  }

  void give(long bytes) {
    used.addAndGet(-bytes);
  }

  long peak() {
    return peak.get();
  }

  long used() {
    return used.get();
  }
}
