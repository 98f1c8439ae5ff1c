package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A database bound to a transaction that the caller begins and ends. */
record TransactionDatabase(Connection connection, Dialect dialect) implements Database {

  /** Carries a database error through the caller's function to the code that translates it. */
  static final class UncheckedSqlException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final SQLException error;

    UncheckedSqlException(SQLException error) {
      super(error);
      this.error = error;
    }

    SQLException error() {
      return error;
    }
  }

  @Override
  public <T extends @Nullable Object> T read(SqlWork<T> work) {
    return write(work);
  }

  @Override
  public <T extends @Nullable Object> T write(SqlWork<T> work) {
    try {
      return work.run(connection);
    } catch (SQLException e) {
      throw new UncheckedSqlException(e);
    }
  }

  @Override
  public void close() {
    // The caller owns the connection.
  }
}
