package dev.isola.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Executes statements. Values are always bound as parameters, so no database message contains one.
 */
final class Sql {
  private Sql() {}

  /** Maps the current row of a result. */
  interface Mapper<T> {
    T map(Row row) throws SQLException;
  }

  /** Returns the number of changed rows. */
  static int update(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, values);
      return statement.executeUpdate();
    }
  }

  static <T> List<T> list(Connection connection, String sql, Mapper<T> mapper, Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, values);
      try (ResultSet result = statement.executeQuery()) {
        Row row = new Row(result);
        List<T> found = new ArrayList<>();
        while (result.next()) {
          found.add(mapper.map(row));
        }
        return found;
      }
    }
  }

  static <T> Optional<T> one(Connection connection, String sql, Mapper<T> mapper, Object... values)
      throws SQLException {
    return list(connection, sql, mapper, values).stream().findFirst();
  }

  private static void bind(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      bind(statement, i + 1, values[i]);
    }
  }

  private static void bind(PreparedStatement statement, int at, Object value) throws SQLException {
    switch (value) {
      case Optional<?> optional when optional.isPresent() -> bind(statement, at, optional.get());
      case Optional<?> _ -> statement.setNull(at, Types.NULL);
      case String text -> statement.setString(at, storable(text));
      case Long number -> statement.setLong(at, number);
      case Integer number -> statement.setLong(at, number);
      case Boolean flag -> statement.setLong(at, flag ? 1 : 0);
      case Instant time -> statement.setLong(at, Micros.of(time));
      case Duration time -> statement.setLong(at, Micros.of(time));
      case Enum<?> constant -> statement.setString(at, constant.name());
      default -> throw new IllegalArgumentException("cannot store a " + value.getClass());
    }
  }

  /**
   * Replaces NUL characters and unpaired surrogates, which PostgreSQL rejects, so that both
   * databases store the same text.
   */
  static String storable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0 || Character.isSurrogate(c)) {
        return replaced(text);
      }
    }
    return text;
  }

  private static String replaced(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .map(
            c ->
                c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                    ? 0xFFFD
                    : c)
        .forEach(clean::appendCodePoint);
    return clean.toString();
  }
}
