package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A database within a transaction that somebody else began and will end. */
record Bound(Connection connection, Dialect dialect) implements Database {

  /** Carries a database error through the caller's function to who can make sense of it. */
  static final class Carried extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final SQLException error;

    Carried(SQLException error) {
      super(error);
      this.error = error;
    }

    SQLException error() {
      return error;
    }
  }

  @Override
  public <T extends @Nullable Object> T read(Work<T> work) {
    return write(work);
  }

  @Override
  public <T extends @Nullable Object> T write(Work<T> work) {
    try {
      return work.run(connection);
    } catch (SQLException e) {
      throw new Carried(e);
    }
  }

  @Override
  public void close() {
    // Not ours.
  }
}
