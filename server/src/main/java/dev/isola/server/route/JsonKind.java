package dev.isola.server.route;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names the types of JSON values in messages. */
final class JsonKind {
  private JsonKind() {}

  static String of(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case String _ -> "a string";
      case Boolean _ -> "a boolean";
      case Number _ -> "a number";
      case List<?> _ -> "a list";
      case Map<?, ?> _ -> "an object";
      default -> "another type";
    };
  }
}
