package dev.isola.client;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON as maps, lists, texts, numbers and flags. Jackson's streaming core does it alone; binding to
 * classes would double the time a short program takes to start.
 */
final class Json {
  private static final JsonFactory FACTORY = JsonFactory.builder().build();

  private Json() {}

  /**
   * Reads one object; what is null in it is left out.
   *
   * @throws tools.jackson.core.JacksonException when it is none
   */
  static Map<String, Object> read(InputStream in) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
      return object(parser);
    }
  }

  static Map<String, Object> read(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      return object(parser);
    }
  }

  private static Map<String, Object> object(JsonParser parser) {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("it is not a JSON object");
    }
    return members(parser);
  }

  private static Map<String, Object> members(JsonParser parser) {
    Map<String, Object> object = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      Object value = value(parser);
      if (value != null) {
        object.put(name, value);
      }
    }
    return object;
  }

  private static @Nullable Object value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> members(parser);
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          Object value = value(parser);
          if (value != null) {
            list.add(value);
          }
        }
        yield list;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> parser.getString();
    };
  }

  static byte[] write(Map<String, ?> object) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      write(generator, object);
    }
    return out.toByteArray();
  }

  private static void write(JsonGenerator generator, @Nullable Object value) {
    switch (value) {
      case null -> generator.writeNull();
      case Map<?, ?> map -> {
        generator.writeStartObject();
        map.forEach(
            (name, member) -> {
              generator.writeName(String.valueOf(name));
              write(generator, member);
            });
        generator.writeEndObject();
      }
      case Iterable<?> list -> {
        generator.writeStartArray();
        list.forEach(one -> write(generator, one));
        generator.writeEndArray();
      }
      case Boolean flag -> generator.writeBoolean(flag);
      case Integer number -> generator.writeNumber(number);
      case Long number -> generator.writeNumber(number);
      case Number number -> generator.writeNumber(number.toString());
      default -> generator.writeString(value.toString());
    }
  }
}
