package dev.isola.snapshot.manifest;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A number of bytes that several users share. Thread-safe. */
public final class ByteBudget {
  private final String what;
  private final long max;
  private final String remedy;
  private final Optional<ByteBudget> shared;
  private final AtomicLong used = new AtomicLong();

  /**
   * @param what what the bytes are, for the message
   * @param remedy what to do when there are too many
   * @param shared a larger budget that the bytes count towards, too
   */
  public ByteBudget(String what, long max, String remedy, Optional<ByteBudget> shared) {
    this.what = what;
    this.max = max;
    this.remedy = remedy;
    this.shared = shared;
  }

  /**
   * Takes bytes.
   *
   * @throws dev.isola.spi.error.LimitExceeded if there are not that many left
   */
  public void reserve(long bytes) {
    if (used.addAndGet(bytes) > max) {
      used.addAndGet(-bytes);
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT, what + " exceed the limit of " + max + " bytes", remedy)
          .exception();
    }
    try {
      shared.ifPresent(budget -> budget.reserve(bytes));
    } catch (RuntimeException e) {
      used.addAndGet(-bytes);
      throw e;
    }
  }

  /** Returns bytes. */
  public void release(long bytes) {
    used.addAndGet(-bytes);
    shared.ifPresent(budget -> budget.release(bytes));
  }
}
