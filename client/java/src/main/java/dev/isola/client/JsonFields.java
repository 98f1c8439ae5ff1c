package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.Json;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A JSON object of the server, with typed access to its fields. Missing or mistyped fields are
 * errors.
 */
record JsonFields(Map<String, Object> all) {
  @SuppressWarnings("unchecked") // JSON keys are always strings
  static JsonFields of(Object value) {
    return new JsonFields((Map<String, Object>) value);
  }

  /**
   * Parses an object and drops null values.
   *
   * @throws dev.isola.codec.json.MalformedJson if it is not a JSON object
   */
  static JsonFields parse(byte[] json) {
    return of(withoutNulls(Json.parseObject(json)));
  }

  /** Parses an object; see {@link #parse(byte[])}. */
  static JsonFields parse(String json) {
    return of(withoutNulls(Json.parseObject(json)));
  }

  private static Object withoutNulls(Object value) {
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> kept = new LinkedHashMap<>();
      map.forEach(
          (name, member) -> {
            if (member != null) {
              kept.put(name, withoutNulls(member));
            }
          });
      return kept;
    }
    return value instanceof List<?> list
        ? list.stream().filter(Objects::nonNull).map(JsonFields::withoutNulls).toList()
        : value;
  }

  String text(String name) {
    return optionalText(name).orElseThrow(() -> invalid(name));
  }

  Optional<String> optionalText(String name) {
    return all.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  long integer(String name) {
    return optionalInteger(name).orElseThrow(() -> invalid(name));
  }

  Optional<Long> optionalInteger(String name) {
    return all.get(name) instanceof Number number
        ? Optional.of(number.longValue())
        : Optional.empty();
  }

  Optional<Double> optionalDecimal(String name) {
    return all.get(name) instanceof Number number
        ? Optional.of(number.doubleValue())
        : Optional.empty();
  }

  boolean flag(String name) {
    return Boolean.TRUE.equals(all.get(name));
  }

  Instant time(String name) {
    return optionalTime(name).orElseThrow(() -> invalid(name));
  }

  Optional<Instant> optionalTime(String name) {
    try {
      return optionalText(name).map(Instant::parse);
    } catch (DateTimeException e) {
      throw invalid(name);
    }
  }

  JsonFields object(String name) {
    return all.get(name) instanceof Map<?, ?> map ? of(map) : new JsonFields(Map.of());
  }

  Map<String, String> stringMap(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    object(name).all.forEach((key, value) -> texts.put(key, String.valueOf(value)));
    return texts;
  }

  List<JsonFields> list(String name) {
    List<JsonFields> list = new ArrayList<>();
    if (all.get(name) instanceof List<?> found) {
      for (Object element : found) {
        if (!(element instanceof Map<?, ?>)) {
          throw invalid(name);
        }
        list.add(of(element));
      }
    }
    return list;
  }

  List<String> strings(String name) {
    return all.get(name) instanceof List<?> found
        ? found.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static IsolaException invalid(String name) {
    return Problem.clientSide(
            "INTERNAL",
            "the server's response has no valid field '" + name + "'",
            "check that the URL belongs to an Isola server of a compatible version")
        .exception();
  }
}
