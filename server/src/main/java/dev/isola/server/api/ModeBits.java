package dev.isola.server.api;

import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.spi.spec.Violation;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses permission bits in octal notation. */
final class ModeBits {
  static final Shape SHAPE = new Shape.NonEmptyText(5);

  private ModeBits() {}

  /** Returns the permission bits; empty if none are given. */
  static Optional<Integer> of(String field, @Nullable Object text) {
    if (text == null) {
      return Optional.empty();
    }
    if (!((String) text).matches("0?[0-7]{3,4}")) {
      throw Query.invalid(
          List.of(new Violation(field, "must be three or four octal digits, such as 0644")));
    }
    return Optional.of(Integer.parseInt((String) text, 8));
  }
}
