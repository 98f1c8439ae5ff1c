package dev.isola.provider.e2b.http;

import dev.isola.spi.Bytes;
import java.io.IOException;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON of the other side, which may be anything, and ours. */
public final class Json {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  public static byte[] bytes(Object value) {
    return MAPPER.writeValueAsBytes(value);
  }

  public static JsonNode read(Bytes text) throws IOException {
    return read(text.toArray());
  }

  public static JsonNode read(byte[] text) throws IOException {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new IOException("it is not JSON", e);
    }
  }

  /** Returns a text that is there and says something. */
  public static Optional<String> text(JsonNode node, String field) {
    return Optional.of(node.path(field).asString("")).filter(text -> !text.isEmpty());
  }

  /** Returns the {@code message} of an error, or the beginning of whatever came instead. */
  public static String message(Bytes body) {
    try {
      return text(read(body), "message").orElse("");
    } catch (IOException e) {
      return body.utf8();
    }
  }
}
