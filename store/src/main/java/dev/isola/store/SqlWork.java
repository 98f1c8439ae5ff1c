package dev.isola.store;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Work to run on a connection. It may run again after a rollback. */
interface SqlWork<T extends @Nullable Object> {
  T run(Connection connection) throws SQLException;
}
