package dev.isola.store;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/** The current row of a result set, read as Isola's types. */
record Row(ResultSet result) {

  String text(String column) throws SQLException {
    return result.getString(column);
  }

  Optional<String> optionalText(String column) throws SQLException {
    return Optional.ofNullable(result.getString(column));
  }

  long number(String column) throws SQLException {
    return result.getLong(column);
  }

  boolean flag(String column) throws SQLException {
    return result.getLong(column) != 0;
  }

  Instant time(String column) throws SQLException {
    return Micros.instant(result.getLong(column));
  }

  Optional<Instant> optionalTime(String column) throws SQLException {
    OptionalLong micros = optionalNumber(column);
    return micros.isPresent() ? Optional.of(Micros.instant(micros.getAsLong())) : Optional.empty();
  }

  Optional<Duration> optionalDuration(String column) throws SQLException {
    OptionalLong micros = optionalNumber(column);
    return micros.isPresent() ? Optional.of(Micros.duration(micros.getAsLong())) : Optional.empty();
  }

  Optional<Long> optionalLong(String column) throws SQLException {
    OptionalLong number = optionalNumber(column);
    return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
  }

  private OptionalLong optionalNumber(String column) throws SQLException {
    long number = result.getLong(column);
    return result.wasNull() ? OptionalLong.empty() : OptionalLong.of(number);
  }
}
