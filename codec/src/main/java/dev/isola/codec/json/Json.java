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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;

/**
 * Converts between JSON text and maps, lists, strings, numbers, booleans and nulls. Uses only the
 * streaming core of Jackson: data binding would double the startup time of a short program.
 *
 * <p>The parser is strict and bounded. It accepts a single value in UTF-8 without unpaired
 * surrogates, unique member names and finite numbers, with at most {@value #MAX_DEPTH} levels,
 * {@value #MAX_BYTES} bytes, {@value #MAX_TOKENS} tokens and {@value #MAX_NUMBER} digits.
 */
public final class Json {
  /** Maximum nesting of objects and lists. */
  public static final int MAX_DEPTH = 32;

  /** Maximum length of a document. Callers that read from a peer set lower limits. */
  public static final int MAX_BYTES = 64 << 20;

  /** Maximum number of names, values and brackets. Small tokens use more memory than their text. */
  public static final int MAX_TOKENS = 4 << 20;

  /** Maximum length of a number. */
  public static final int MAX_NUMBER = 1000;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .disable(StreamWriteFeature.AUTO_CLOSE_CONTENT) // a failed write must not look complete
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH + 1) // one more is rejected here
                  .maxStringLength(MAX_BYTES)
                  .maxTokenCount(MAX_TOKENS)
                  .maxNumberLength(MAX_NUMBER)
                  .build())
          .build();

  /** A string value that is written while it is read, and never held in memory as a whole. */
  public sealed interface StreamedText {
    /** A stream of characters. */
    record Characters(Reader reader) implements StreamedText {}

    /** A stream of {@code length} bytes, encoded as Base64. */
    record Base64(InputStream bytes, int length) implements StreamedText {}
  }

  private Json() {}

  /** Returns an object with members in this order. Arguments are alternating names and values. */
  public static Map<String, Object> object(Object... members) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      object.put((String) members[i], members[i + 1]);
    }
    return object;
  }

  /**
   * Returns a value as JSON on one line. Enum constants, instants and paths become strings; an
   * empty {@code Optional} becomes null. A {@code Supplier} is evaluated after everything before it
   * was written, so its value may depend on how a preceding {@code Iterable} ended.
   *
   * @throws IllegalArgumentException for a type that JSON cannot represent
   */
  public static String text(Object value) {
    return new String(bytes(value), UTF_8);
  }

  /** Like {@link #text}, encoded as UTF-8. */
  public static byte[] bytes(Object value) {
    return bytes(value, false);
  }

  /** Returns the canonical JSON of a value, with the members of every object sorted by name. */
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

  /**
   * Writes a value incrementally and leaves the stream open. If writing fails, the document is
   * truncated and not valid JSON.
   */
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
      case Supplier<?> late -> write(out, late.get(), sorted);
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
      default ->
          throw new IllegalArgumentException(
              "cannot be written as JSON: " + value.getClass().getName());
    }
  }

  /** UTF-8 cannot encode an unpaired surrogate. */
  private static String wellFormed(String text) {
    return isWellFormed(text) ? text : new String(text.getBytes(UTF_8), UTF_8);
  }

  private static boolean isWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (i + 1 == text.length()
            || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  /**
   * Parses one value: a {@code Map}, {@code List}, {@code String}, {@code Boolean} or {@code
   * Number} ({@code Integer}, {@code Long}, {@code BigInteger} or {@code Double}), or null.
   *
   * @throws MalformedJson if the bytes are not exactly one valid value
   */
  public static @Nullable Object parse(byte[] utf8) {
    if (utf8.length > MAX_BYTES) {
      throw new MalformedJson("longer than " + MAX_BYTES + " bytes");
    }
    try {
      return parse(UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString());
    } catch (CharacterCodingException e) {
      throw new MalformedJson("not UTF-8");
    }
  }

  /** Like {@link #parse(byte[])}. */
  public static @Nullable Object parse(String text) {
    if (text.length() > MAX_BYTES) {
      throw new MalformedJson("longer than " + MAX_BYTES + " characters");
    }
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      if (parser.nextToken() == null) {
        throw new MalformedJson("empty");
      }
      Object value = value(parser, 0);
      if (parser.nextToken() != null) {
        throw malformed("text after the end of the value", parser);
      }
      return value;
    } catch (StreamConstraintsException e) {
      throw new MalformedJson("a number or name is too long, or there are too many", e);
    } catch (JacksonException e) {
      throw new MalformedJson("syntax error", e);
    }
  }

  /** Like {@link #parse(byte[])}, but the value must be an object. */
  public static Map<String, Object> parseObject(byte[] utf8) {
    return asObject(parse(utf8));
  }

  /** Like {@link #parse(byte[])}, but the value must be an object. */
  public static Map<String, Object> parseObject(String text) {
    return asObject(parse(text));
  }

  @SuppressWarnings("unchecked") // JSON keys are always strings
  private static Map<String, Object> asObject(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new MalformedJson("not an object");
  }

  private static @Nullable Object value(JsonParser parser, int depth) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser, deeper(parser, depth));
      case START_ARRAY -> list(parser, deeper(parser, depth));
      case VALUE_NUMBER_INT -> parser.getNumberValue();
      case VALUE_NUMBER_FLOAT -> finite(parser);
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> paired(parser.getString(), parser);
    };
  }

  private static Map<String, @Nullable Object> object(JsonParser parser, int depth) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = paired(parser.currentName(), parser);
      if (object.containsKey(name)) {
        throw malformed("a name occurs twice in an object", parser);
      }
      parser.nextToken();
      object.put(name, value(parser, depth));
    }
    return object;
  }

  private static List<@Nullable Object> list(JsonParser parser, int depth) {
    List<@Nullable Object> list = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      list.add(value(parser, depth));
    }
    return list;
  }

  private static int deeper(JsonParser parser, int depth) {
    if (depth == MAX_DEPTH) {
      throw malformed("nested deeper than " + MAX_DEPTH + " levels", parser);
    }
    return depth + 1;
  }

  private static double finite(JsonParser parser) {
    double number = parser.getDoubleValue();
    if (Double.isFinite(number)) {
      return number;
    }
    throw malformed("a number is out of range", parser);
  }

  private static String paired(String text, JsonParser parser) {
    if (isWellFormed(text)) {
      return text;
    }
    throw malformed("a string has an unpaired surrogate", parser);
  }

  private static MalformedJson malformed(String reason, JsonParser parser) {
    return new MalformedJson(reason, parser.currentTokenLocation());
  }
}
