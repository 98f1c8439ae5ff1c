package dev.isola.codec.json;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A value of a document received from a peer. Reading is lenient: a member that is missing or has
 * another type reads as empty, zero or false.
 */
public final class JsonValue {
  private final @Nullable Object value;

  private JsonValue(@Nullable Object value) {
    this.value = value;
  }

  /**
   * Parses one value; an empty input is an empty value.
   *
   * @throws IOException if the input is not JSON
   */
  public static JsonValue parse(byte[] utf8) throws IOException {
    try {
      return new JsonValue(utf8.length == 0 ? null : Json.parse(utf8));
    } catch (MalformedJson e) {
      throw new IOException("not JSON: " + e.getMessage(), e);
    }
  }

  /** Returns the member at this path. */
  public JsonValue at(String... path) {
    Object found = value;
    for (String name : path) {
      found = found instanceof Map<?, ?> object ? object.get(name) : null;
    }
    return new JsonValue(found);
  }

  /** Returns the value at this path as a string; numbers and booleans are converted. */
  public String text(String... path) {
    Object found = at(path).value;
    return found instanceof String || found instanceof Number || found instanceof Boolean
        ? found.toString()
        : "";
  }

  /** Returns the string at this path if it exists and is not empty. */
  public Optional<String> optionalText(String... path) {
    return Optional.of(text(path)).filter(text -> !text.isEmpty());
  }

  /** Returns the integer at this path, or 0 if it does not fit into a long. */
  public long number(String... path) {
    return switch (at(path).value) {
      case Integer number -> number;
      case Long number -> number;
      case Double number when Math.abs(number) < Long.MAX_VALUE -> number.longValue();
      case String text when text.matches("-?[0-9]{1,18}") -> Long.parseLong(text);
      case null, default -> 0;
    };
  }

  /** Returns whether the value at this path is true. */
  public boolean flag(String... path) {
    return Boolean.TRUE.equals(at(path).value);
  }

  /** Returns whether this is an object that has the member. */
  public boolean has(String name) {
    return value instanceof Map<?, ?> object && object.containsKey(name);
  }

  public boolean isObject() {
    return value instanceof Map;
  }

  public boolean isText() {
    return value instanceof String;
  }

  public boolean isList() {
    return value instanceof List;
  }

  /** Returns the items of a list. */
  public List<JsonValue> items() {
    return value instanceof List<?> list ? list.stream().map(JsonValue::new).toList() : List.of();
  }

  /** Returns the members of an object. */
  public Map<String, JsonValue> members() {
    Map<String, JsonValue> members = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> object) {
      object.forEach((name, member) -> members.put(String.valueOf(name), new JsonValue(member)));
    }
    return members;
  }

  /** Returns the value as JSON. */
  @Override
  public String toString() {
    return value == null ? "null" : Json.text(value);
  }
}
