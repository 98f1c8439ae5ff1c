package dev.isola.provider.docker;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON, in and out. What comes in is the engine's, and may be anything. */
final class Json {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  static byte[] of(Object value) {
    return MAPPER.writeValueAsBytes(value);
  }

  static String text(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /**
   * Reads one value.
   *
   * @throws IOException when it is none
   */
  static JsonNode read(byte[] text) throws IOException {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new IOException("it is not JSON", e);
    }
  }

  /** Returns the text of a field, or nothing where there is none. */
  static String text(JsonNode node, String... path) {
    return at(node, path).asString("");
  }

  static long number(JsonNode node, String... path) {
    return at(node, path).asLong(0);
  }

  static boolean flag(JsonNode node, String... path) {
    return at(node, path).asBoolean(false);
  }

  static JsonNode at(JsonNode node, String... path) {
    JsonNode found = node;
    for (String name : path) {
      found = found.path(name);
    }
    return found;
  }

  /** Returns a map in the order in which it is written here. */
  static Map<String, Object> object(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }
}
