package dev.isola.engine.config;

/** What values a key takes. Values from the environment and from flags always come as text. */
interface ValueType<T> {
  T read(Object raw) throws InvalidValueException;

  /** Returns the value as it may be shown: a secret in it is masked. */
  default String show(T value) {
    return value.toString();
  }

  /** Returns what is allowed, for docs: {@code true or false}. */
  String description();

  /** Names the sort of thing that was written, never the thing. */
  static String typeName(Object raw) {
    return switch (raw) {
      case String _ -> "text";
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
