package dev.isola.engine.config;

import dev.isola.document.field.Suggestion;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A constant of an enumeration, written in lower case with dashes. */
record EnumType<E extends Enum<E>>(Class<E> type) implements ValueType<E> {
  @Override
  public E read(Object raw) throws InvalidValueException {
    for (E constant : type.getEnumConstants()) {
      if (show(constant).equals(raw)) {
        return constant;
      }
    }
    throw new InvalidValueException(
        "must be "
            + description()
            + ": "
            + ValueType.truncated(raw)
            + (raw instanceof String text ? Suggestion.hint(text, names()) : ""));
  }

  @Override
  public String show(E value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private List<String> names() {
    return Arrays.stream(type.getEnumConstants()).map(this::show).toList();
  }

  @Override
  public String description() {
    List<String> names = names();
    return String.join(", ", names.subList(0, names.size() - 1)) + " or " + names.getLast();
  }
}
