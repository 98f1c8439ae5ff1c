package dev.isola.compat.e2b.model;

import dev.isola.server.route.Query;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A JSON object in a request of an E2B client. Unknown fields are ignored, as E2B's server does;
 * known fields must have the right type.
 */
public record E2bRequestBody(Map<String, Object> fields) {

  public Optional<String> text(String name) {
    return of(name, String.class, "a string");
  }

  public String required(String name) {
    return text(name).orElseThrow(() -> invalidField(name, "is missing"));
  }

  public Optional<Boolean> flag(String name) {
    return of(name, Boolean.class, "true or false");
  }

  public Optional<Long> wholeNumber(String name) {
    return of(name, Number.class, "a number").map(Number::longValue);
  }

  public Optional<E2bRequestBody> object(String name) {
    return of(name, Map.class, "an object").map(map -> new E2bRequestBody(named(map)));
  }

  public List<?> list(String name) {
    return of(name, List.class, "a list").map(one -> (List<?>) one).orElse(List.of());
  }

  public List<String> texts(String name) {
    for (Object each : list(name)) {
      if (!(each instanceof String)) {
        throw invalidField(name, "must be a list of strings");
      }
    }
    return list(name).stream().map(String::valueOf).toList();
  }

  public List<E2bRequestBody> objects(String name) {
    for (Object each : list(name)) {
      if (!(each instanceof Map)) {
        throw invalidField(name, "must be a list of objects");
      }
    }
    return list(name).stream().map(each -> new E2bRequestBody(named((Map<?, ?>) each))).toList();
  }

  /** Returns an object whose values are strings. */
  public Map<String, String> map(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    object(name)
        .ifPresent(
            object ->
                object
                    .fields()
                    .keySet()
                    .forEach(
                        key ->
                            texts.put(
                                key,
                                object
                                    .text(key)
                                    .orElseThrow(
                                        () -> invalidField(name, "must not contain null")))));
    return texts;
  }

  /** Returns an error about one field of the request. */
  public static SandboxException invalidField(String field, String problem) {
    return Query.invalid(List.of(new Violation(field, problem)));
  }

  private <T> Optional<T> of(String name, Class<T> type, String expected) {
    Object value = fields.get(name);
    if (value == null) {
      return Optional.empty();
    }
    if (!type.isInstance(value)) {
      throw invalidField(name, "must be " + expected);
    }
    return Optional.of(type.cast(value));
  }

  private static Map<String, Object> named(Map<?, ?> map) {
    Map<String, Object> named = new LinkedHashMap<>();
    map.forEach(
        (key, value) -> {
          if (value != null) {
            named.put(String.valueOf(key), value);
          }
        });
    return named;
  }
}
