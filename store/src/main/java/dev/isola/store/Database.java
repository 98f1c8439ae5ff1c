package dev.isola.store;

import org.jspecify.annotations.Nullable;

/** Runs work in transactions, with a deadline, and turns what goes wrong into our exceptions. */
interface Database extends AutoCloseable {

  Dialect dialect();

  /** Runs work that only reads. */
  <T extends @Nullable Object> T read(SqlWork<T> work);

  /** Runs work in one transaction; what it wrote is durable when this returns. */
  <T extends @Nullable Object> T write(SqlWork<T> work);

  @Override
  void close();
}
