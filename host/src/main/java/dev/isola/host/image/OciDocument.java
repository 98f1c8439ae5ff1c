package dev.isola.host.image;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A JSON object of an OCI image. Rejects unexpected values with the name of the field. */
record OciDocument(String what, Map<String, Object> fields) {

  static OciDocument parse(String what, byte[] bytes) {
    try {
      return of(what, Json.parse(bytes));
    } catch (MalformedJson e) {
      throw bad(what + " is not JSON: " + e.getMessage());
    }
  }

  @SuppressWarnings("unchecked") // JSON objects have string keys
  private static OciDocument of(String what, @Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return new OciDocument(what, (Map<String, Object>) map);
    }
    throw bad(what + " is not an object");
  }

  Optional<OciDocument> object(String key) {
    return value(key).map(value -> of(what + "'s " + key, value));
  }

  List<OciDocument> objects(String key) {
    List<OciDocument> objects = new ArrayList<>();
    for (Object value : list(key)) {
      objects.add(of("an entry of " + what + "'s " + key, value));
    }
    return objects;
  }

  Optional<String> string(String key) {
    return value(key)
        .map(
            value -> {
              if (value instanceof String string) {
                return string;
              }
              throw bad(what + "'s " + key + " is not a string");
            })
        .filter(string -> !string.isEmpty());
  }

  List<String> strings(String key) {
    List<String> strings = new ArrayList<>();
    for (Object value : list(key)) {
      if (!(value instanceof String string)) {
        throw bad(what + "'s " + key + " has an entry that is not a string");
      }
      strings.add(string);
    }
    return strings;
  }

  long number(String key) {
    if (value(key).orElse(-1) instanceof Number number
        && number.doubleValue() >= 0
        && number.doubleValue() <= 1L << 53
        && number.doubleValue() == Math.rint(number.doubleValue())) {
      return number.longValue();
    }
    throw bad(what + " has no valid " + key);
  }

  private List<?> list(String key) {
    Object value = value(key).orElse(List.of());
    if (value instanceof List<?> list) {
      return list;
    }
    throw bad(what + "'s " + key + " is not a list");
  }

  private Optional<Object> value(String key) {
    return Optional.ofNullable(fields.get(key));
  }

  static SandboxException bad(String what) {
    return Fault.of(
            ErrorCode.BAD_ARCHIVE,
            what,
            "nothing was stored; fetch the image again, or from a trusted source")
        .exception();
  }
}
