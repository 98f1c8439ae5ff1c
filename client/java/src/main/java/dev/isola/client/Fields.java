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

/** An answer of the server, read field by field; what is not as promised is an error. */
record Fields(Map<String, Object> all) {
  @SuppressWarnings("unchecked") // JSON has no other keys
  static Fields of(Object value) {
    return new Fields((Map<String, Object>) value);
  }

  /**
   * Reads an object; what is null in it is left out.
   *
   * @throws dev.isola.codec.json.MalformedJson when it is none
   */
  static Fields parse(byte[] json) {
    return of(withoutNulls(Json.parseObject(json)));
  }

  /** Like {@link #parse(byte[])}. */
  static Fields parse(String json) {
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
        ? list.stream().filter(Objects::nonNull).map(Fields::withoutNulls).toList()
        : value;
  }

  String text(String name) {
    return maybeText(name).orElseThrow(() -> wrong(name));
  }

  Optional<String> maybeText(String name) {
    return all.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  long whole(String name) {
    return maybeWhole(name).orElseThrow(() -> wrong(name));
  }

  Optional<Long> maybeWhole(String name) {
    return all.get(name) instanceof Number number
        ? Optional.of(number.longValue())
        : Optional.empty();
  }

  boolean flag(String name) {
    return Boolean.TRUE.equals(all.get(name));
  }

  Instant time(String name) {
    return maybeTime(name).orElseThrow(() -> wrong(name));
  }

  Optional<Instant> maybeTime(String name) {
    try {
      return maybeText(name).map(Instant::parse);
    } catch (DateTimeException e) {
      throw wrong(name);
    }
  }

  Fields object(String name) {
    return all.get(name) instanceof Map<?, ?> map ? of(map) : new Fields(Map.of());
  }

  Map<String, String> texts(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    object(name).all.forEach((key, value) -> texts.put(key, String.valueOf(value)));
    return texts;
  }

  List<Fields> list(String name) {
    List<Fields> list = new ArrayList<>();
    if (all.get(name) instanceof List<?> found) {
      for (Object one : found) {
        if (!(one instanceof Map<?, ?>)) {
          throw wrong(name);
        }
        list.add(of(one));
      }
    }
    return list;
  }

  List<String> words(String name) {
    return all.get(name) instanceof List<?> found
        ? found.stream().map(String::valueOf).toList()
        : List.of();
  }

  private static IsolaException wrong(String name) {
    return Problem.here(
            "INTERNAL",
            "the server's answer has no '" + name + "' that can be read",
            "check that the URL is that of an Isola server, of about this version")
        .exception();
  }
}
