package dev.isola.engine.metrics;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Remembers what was seen for a moment: a hundred gauges are one look at the ledger. */
final class Looked<T> implements Supplier<T> {
  private final Supplier<T> source;
  private final Duration age;
  private final LongSupplier nanos;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable T seen;
  private long at;

  Looked(Supplier<T> source, Duration age, LongSupplier nanos) {
    this.source = source;
    this.age = age;
    this.nanos = nanos;
  }

  @Override
  public T get() {
    lock.lock();
    try {
      T known = seen;
      long now = nanos.getAsLong();
      if (known == null || now - at >= age.toNanos()) {
        known = source.get();
        seen = known;
        at = now;
      }
      return known;
    } finally {
      lock.unlock();
    }
  }
}
