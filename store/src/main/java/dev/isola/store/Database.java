package dev.isola.store;

import org.jspecify.annotations.Nullable;

/** Runs work in transactions with a deadline, and translates database errors. */
interface Database extends AutoCloseable {

  Dialect dialect();

  /** Runs read-only work. */
  <T extends @Nullable Object> T read(SqlWork<T> work);

  /** Runs work in one transaction. The changes are durable when this method returns. */
  <T extends @Nullable Object> T write(SqlWork<T> work);

  /** Returns access to the database that calls of others do not delay. */
  default Database forLeases() {
    return this;
  }

  @Override
  void close();
}
