package dev.isola.codec.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON as maps, lists, texts, numbers, flags and nulls. Jackson's streaming core does it alone:
 * binding to classes would double the time that a short program takes to start.
 *
 * <p>Reading is strict: UTF-8, one value, each name of an object once, at most {@value #DEEPEST}
 * levels, numbers that are finite.
 */
public final class Json {
  /** How deep a document may nest. */
  public static final int DEEPEST = 32;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .streamReadConstraints(
              StreamReadConstraints.builder().maxNestingDepth(DEEPEST).build())
          .build();

  /** A text of a document that is written as it is read, and is never in memory as a whole. */
  public sealed interface StreamedText {
    /** Characters. */
    record Characters(Reader reader) implements StreamedText {}

    /** As many bytes, in Base64. */
    record Base64(InputStream bytes, int length) implements StreamedText {}
  }

  private Json() {}

  /** Returns an object whose members keep this order: names and values in turn. */
  public static Map<String, Object> object(Object... members) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      object.put((String) members[i], members[i + 1]);
    }
    return object;
  }

  /**
   * Returns a value in JSON, without line breaks. Constants, times and paths are texts; an empty
   * {@code Optional} is null.
   *
   * @throws IllegalArgumentException for a value that JSON does not have
   */
  public static String text(Object value) {
    return new String(bytes(value), UTF_8);
  }

  /** Like {@link #text}, in UTF-8. */
  public static byte[] bytes(Object value) {
    return bytes(value, false);
  }

  /** Returns the only text of a value: the members of every object in the order of their names. */
  public static String canonical(Object value) {
    return new String(bytes(value, true), UTF_8);
  }

  private static byte[] bytes(Object value, boolean sorted) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      write(generator, value, sorted);
    }
    return out.toByteArray();
  }

  /** Writes a value piece by piece, and leaves the stream open. */
  public static void write(Object value, OutputStream out) throws IOException {
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      write(generator, value, false);
    } catch (JacksonIOException e) {
      throw e.getCause();
    }
  }

  private static void write(JsonGenerator out, @Nullable Object value, boolean sorted) {
    switch (value) {
      case null -> out.writeNull();
      case Enum<?> _, Instant _, Path _ -> out.writeString(wellFormed(value.toString()));
      case Optional<?> optional -> write(out, optional.orElse(null), sorted);
      case Map<?, ?> map -> {
        out.writeStartObject();
        (sorted ? new TreeMap<>(map) : map)
            .forEach(
                (name, member) -> {
                  out.writeName(wellFormed(String.valueOf(name)));
                  write(out, member, sorted);
                });
        out.writeEndObject();
      }
      case Iterable<?> list -> {
        out.writeStartArray();
        list.forEach(one -> write(out, one, sorted));
        out.writeEndArray();
      }
      case String text -> out.writeString(wellFormed(text));
      case Boolean flag -> out.writeBoolean(flag);
      case Integer number -> out.writeNumber(number);
      case Long number -> out.writeNumber(number);
      case BigInteger number -> out.writeNumber(number);
      case BigDecimal number -> out.writeNumber(number);
      case Number number when Double.isFinite(number.doubleValue()) ->
          out.writeNumber(number.toString());
      case StreamedText.Characters(Reader reader) -> out.writeString(reader, -1);
      case StreamedText.Base64(InputStream bytes, int length) -> out.writeBinary(bytes, length);
      default -> throw new IllegalArgumentException("JSON has no " + value.getClass().getName());
    }
  }

  /** Half of a surrogate pair cannot be written as UTF-8. */
  private static String wellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return new String(text.getBytes(UTF_8), UTF_8);
      }
    }
    return text;
  }

  /**
   * Reads one value: a {@code Map}, {@code List}, {@code String}, {@code Boolean} or {@code
   * Number} ({@code Integer}, {@code Long}, {@code BigInteger} or {@code Double}), or null.
   *
   * @throws MalformedJson when it is none
   */
  public static @Nullable Object parse(byte[] utf8) {
    try {
      return parse(UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString());
    } catch (CharacterCodingException e) {
      throw new MalformedJson("it is not UTF-8");
    }
  }

  /** Like {@link #parse(byte[])}. */
  public static @Nullable Object parse(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (parser.nextToken() == null) {
        throw new MalformedJson("it is empty");
      }
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw new MalformedJson("it has something after its end");
      }
      return value;
    } catch (JacksonException e) {
      var place = e.getLocation();
      throw place == null
          ? new MalformedJson(e.getOriginalMessage())
          : new MalformedJson(e.getOriginalMessage(), place.getLineNr(), place.getColumnNr());
    }
  }

  /** Like {@link #parse(byte[])}, for a text that must be an object. */
  public static Map<String, Object> parseObject(byte[] utf8) {
    return asObject(parse(utf8));
  }

  /** Like {@link #parse(byte[])}, for a text that must be an object. */
  public static Map<String, Object> parseObject(String text) {
    return asObject(parse(text));
  }

  @SuppressWarnings("unchecked") // JSON has no other keys
  private static Map<String, Object> asObject(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new MalformedJson("it is not an object");
  }

  private static @Nullable Object value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          object.put(name, value(parser));
        }
        yield object;
      }
      case START_ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> finite(parser.getDoubleValue());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> parser.getString();
    };
  }

  private static double finite(double number) {
    if (Double.isFinite(number)) {
      return number;
    }
    throw new MalformedJson("it has a number that is out of range");
  }
}
