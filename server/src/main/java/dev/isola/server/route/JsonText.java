package dev.isola.server.route;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Bodies in JSON, in and out. */
public final class JsonText {
  /** The largest body that is read into memory. */
  public static final int LARGEST = 1 << 20;

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();
  private static final TypeReference<Object> ANYTHING = new TypeReference<>() {};
  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  private JsonText() {}

  public static byte[] of(Object value) {
    return JSON.writeValueAsBytes(value);
  }

  /** Writes a value piece by piece, and leaves the stream open. */
  public static void write(Object value, OutputStream out) throws IOException {
    try {
      JSON.writer().without(StreamWriteFeature.AUTO_CLOSE_TARGET).writeValue(out, value);
    } catch (JacksonIOException e) {
      throw e.getCause();
    }
  }

  /** Reads an object that we wrote. */
  public static Map<String, Object> object(String text) {
    return JSON.readValue(text, OBJECT);
  }

  /** Reads a body and refuses it with everything that is wrong with it. */
  public static Map<String, Object> read(
      InputStream in, Route.Body.Json wanted, List<Violation> problems) throws IOException {
    byte[] bytes = bytes(in, LARGEST);
    Object value = bytes.length == 0 && !wanted.required() ? Map.of() : parsed(bytes);
    wanted.shape().check("", value, problems);
    if (!problems.isEmpty()) {
      throw Query.refused(new ArrayList<>(problems));
    }
    Map<String, Object> body = new LinkedHashMap<>();
    ((Map<?, ?>) value)
        .forEach(
            (name, each) -> {
              if (each != null) {
                body.put(String.valueOf(name), each);
              }
            });
    return body;
  }

  /** Reads an object whose fields nobody described. */
  public static Map<?, ?> object(byte[] bytes) {
    if (parsed(bytes) instanceof Map<?, ?> map) {
      return map;
    }
    throw refused("the body is not an object", "send a JSON object");
  }

  /** Reads a body of at most so many bytes; one that trickles in is not waited for. */
  public static byte[] bytes(InputStream in, int most) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    long begun = System.nanoTime();
    for (int read = in.read(buffer); read >= 0 && all.size() <= most; read = in.read(buffer)) {
      all.write(buffer, 0, read);
      if (System.nanoTime() - begun > PATIENCE.toNanos()) {
        throw refused(
            "the body took longer than " + PATIENCE.toSeconds() + " s", "send it in one go");
      }
    }
    if (all.size() > most) {
      throw refused("the body is larger than " + most + " bytes", "send large content as files");
    }
    return all.toByteArray();
  }

  private static Object parsed(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      Object value = JSON.readValue(text, ANYTHING);
      if (value == null) {
        throw refused("the body is null", "send a JSON object");
      }
      return value;
    } catch (CharacterCodingException e) {
      throw refused("the body is not UTF-8", "send JSON in UTF-8");
    } catch (JacksonException e) {
      var place = e.getLocation();
      throw refused(
          "the body is not JSON"
              + (place == null || place.getLineNr() < 1
                  ? ""
                  : ": line " + place.getLineNr() + ", column " + place.getColumnNr()),
          "send one JSON object, each name once");
    }
  }

  private static SandboxException refused(String what, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, what, remedy).exception();
  }
}
