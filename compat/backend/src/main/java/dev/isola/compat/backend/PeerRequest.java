package dev.isola.compat.backend;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The body of a request, with fields of the expected types. */
record PeerRequest(Map<String, Object> body) {
  private static final Duration LONGEST = Duration.ofDays(3650);

  String text(String field, int longest) {
    return optionalText(field, longest).orElseThrow(() -> invalid(field, "is missing"));
  }

  Optional<String> optionalText(String field, int longest) {
    Object value = body.get(field);
    if (value == null) {
      return Optional.empty();
    }
    if (!(value instanceof String text) || text.isEmpty() || text.length() > longest) {
      throw invalid(field, "must be a string of 1 to " + longest + " characters");
    }
    return Optional.of(text);
  }

  Optional<Duration> millis(String field) {
    Object value = body.get(field);
    if (value == null) {
      return Optional.empty();
    }
    boolean valid =
        (value instanceof Long || value instanceof Integer)
            && ((Number) value).longValue() > 0
            && ((Number) value).longValue() <= LONGEST.toMillis();
    if (!valid) {
      throw invalid(field, "must be from 1 to " + LONGEST.toMillis());
    }
    return Optional.of(Duration.ofMillis(((Number) value).longValue()));
  }

  boolean flag(String field) {
    return Boolean.TRUE.equals(body.get(field));
  }

  /** Returns a number that is not negative; 0 if it is absent. */
  long count(String field) {
    Object value = body.getOrDefault(field, 0L);
    if (!(value instanceof Long || value instanceof Integer) || ((Number) value).longValue() < 0) {
      throw invalid(field, "must be a whole number that is not negative");
    }
    return ((Number) value).longValue();
  }

  /** Returns a list of strings; empty if it is absent. */
  List<String> texts(String field) {
    if (!(body.getOrDefault(field, List.of()) instanceof List<?> values)
        || !values.stream().allMatch(String.class::isInstance)) {
      throw invalid(field, "must be a list of strings");
    }
    return values.stream().map(String.class::cast).toList();
  }

  /** Returns a copy of an object. */
  Map<String, Object> object(String field) {
    if (!(body.get(field) instanceof Map<?, ?> fields)) {
      throw invalid(field, "must be an object");
    }
    Map<String, Object> copy = new LinkedHashMap<>();
    fields.forEach((name, value) -> copy.put(String.valueOf(name), value));
    return copy;
  }

  <E extends Enum<E>> E choice(String field, E[] choices) {
    String given = text(field, 64);
    return Stream.of(choices)
        .filter(one -> PeerSandboxes.word(one).equals(given.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                invalid(
                    field,
                    "must be one of "
                        + Stream.of(choices)
                            .map(PeerSandboxes::word)
                            .collect(Collectors.joining(", "))));
  }

  private static SandboxException invalid(String field, String problem) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            field + " " + problem,
            "see the backend protocol, docs/backend-protocol.yaml")
        .exception();
  }
}
