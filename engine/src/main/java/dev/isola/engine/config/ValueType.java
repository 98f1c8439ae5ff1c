package dev.isola.engine.config;

/**
 * The type of a configuration value. Values from the environment and from flags are always strings.
 */
interface ValueType<T> {
  T read(Object raw) throws InvalidValueException;

  /** Returns the value for display; secrets are masked. */
  default String show(T value) {
    return value.toString();
  }

  /** Returns a description of the allowed values, such as {@code true or false}. */
  String description();

  /** Names the type of a raw value without revealing the value. */
  static String typeName(Object raw) {
    return switch (raw) {
      case String _ -> "a string";
      case Boolean _ -> "true or false";
      case Number _ -> "a number";
      case java.util.List<?> _ -> "a list";
      case java.util.Map<?, ?> _ -> "a section";
      default -> raw.getClass().getSimpleName();
    };
  }

  static String truncated(Object raw) {
    String text = raw.toString();
    return text.length() <= 60 ? text : text.substring(0, 60) + "...";
  }
}
