package dev.isola.engine.metrics;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Caches a value for a short time, so that a scrape of many gauges reads the ledger once. */
final class CachedSupplier<T> implements Supplier<T> {
  private final Supplier<T> source;
  private final Duration maxAge;
  private final LongSupplier nanos;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable T cached;
  private long cachedAt;

  CachedSupplier(Supplier<T> source, Duration age, LongSupplier nanos) {
    this.source = source;
    this.maxAge = age;
    this.nanos = nanos;
  }

  @Override
  public T get() {
    lock.lock();
    try {
      T known = cached;
      long now = nanos.getAsLong();
      if (known == null || now - cachedAt >= maxAge.toNanos()) {
        known = source.get();
        cached = known;
        cachedAt = now;
      }
      return known;
    } finally {
      lock.unlock();
    }
  }
}
