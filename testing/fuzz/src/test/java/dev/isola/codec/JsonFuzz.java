package dev.isola.codec;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is accepted as JSON is written as JSON that means the same. */
public final class JsonFuzz {
  private JsonFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    Object value;
    try {
      value = Json.parse(input);
    } catch (MalformedJson e) {
      return;
    }
    if (value == null) {
      return;
    }
    String text = Json.text(value);
    requireEqual(value, Json.parse(text));
    requireEqual(value, Json.parse(Json.canonical(value)));
    requireEqual(Json.canonical(value), Json.canonical(Objects.requireNonNull(Json.parse(text))));
    use(JsonValue.parse(input));
  }

  private static void use(JsonValue value) {
    value.number();
    value.text();
    value.flag();
    value.optionalText("a", "b");
    value.items().forEach(JsonFuzz::use);
    value.members().values().forEach(JsonFuzz::use);
  }

  private static void requireEqual(@Nullable Object expected, @Nullable Object found) {
    if (!Objects.equals(expected, found)) {
      throw new AssertionError("expected " + expected + ", found " + found);
    }
  }
}
