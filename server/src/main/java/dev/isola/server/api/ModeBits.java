package dev.isola.server.api;

import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Shape;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Permission bits in octal notation. */
final class ModeBits {
  static final Shape SHAPE =
      new MatchingText(
          "^0?[0-7]{3,4}$", 5, "must be three or four octal digits, such as 0644", "0644");

  private ModeBits() {}

  /**
   * Returns the permission bits; empty if none are given.
   *
   * @param text a value of {@link #SHAPE}
   */
  static Optional<Integer> of(@Nullable Object text) {
    return Optional.ofNullable((String) text).map(digits -> Integer.parseInt(digits, 8));
  }
}
