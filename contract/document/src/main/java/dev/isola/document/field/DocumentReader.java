package dev.isola.document.field;

import dev.isola.spi.spec.Violation;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads typed fields of an object in a JSON-like tree. An invalid value is recorded as a violation
 * and read as absent, so that one pass finds all of them; null is absent as well. {@link
 * #rejectUnknownFields} then reports the fields that were never read.
 *
 * <p>If a method takes several names, the first is the name of the field and the others are
 * aliases.
 */
public final class DocumentReader {
  /** Longer than any duration that validation accepts, and within the range of Duration. */
  private static final BigDecimal MAX_NANOS = BigDecimal.TEN.pow(24);

  private static final int MAX_DIGITS = 1000;

  /** Converts a value to a {@code T}; returns empty if the value is rejected. */
  public interface ValueReader<T> {
    Optional<T> read(String field, @Nullable Object value);
  }

  private final String prefix;
  private final Map<?, ?> tree;
  private final List<Violation> violations;
  private final Set<String> known = new LinkedHashSet<>();

  private DocumentReader(String prefix, Map<?, ?> tree, List<Violation> violations) {
    this.prefix = prefix;
    this.tree = tree;
    this.violations = violations;
  }

  /**
   * Returns a reader for {@code document} that adds violations at any depth to {@code violations}.
   */
  public static DocumentReader of(Map<?, ?> document, List<Violation> violations) {
    return new DocumentReader("", document, violations);
  }

  /** Returns whether a field is present. */
  public boolean has(String name) {
    return tree.get(name) != null;
  }

  /** Reads an optional field; empty if it is absent or rejected. */
  public <T> Optional<T> field(ValueReader<T> reading, String... names) {
    expect(names);
    List<String> given = Stream.of(names).filter(name -> tree.get(name) != null).toList();
    if (given.size() > 1) {
      return reject(prefix + names[0], "is given twice, as " + String.join(" and ", given));
    }
    return given.stream().findFirst().flatMap(name -> reading.read(prefix + name, tree.get(name)));
  }

  /** Reads a required field. */
  public <T> Optional<T> required(ValueReader<T> reading, String name) {
    expect(name);
    return tree.get(name) == null ? reject(prefix + name, "is missing") : field(reading, name);
  }

  /** Reads a list, omitting rejected elements. */
  public <T> List<T> list(ValueReader<T> reading, String... names) {
    ValueReader<List<T>> parser =
        (field, value) -> {
          List<T> read = new ArrayList<>();
          List<?> elements = asList(field, value).orElse(List.of());
          for (int i = 0; i < elements.size(); i++) {
            reading.read(field + "[" + i + "]", elements.get(i)).ifPresent(read::add);
          }
          return Optional.of(read);
        };
    return field(parser, names).orElse(List.of());
  }

  /** Reads an object with arbitrary member names, omitting rejected entries. */
  public <T> Map<String, T> entries(ValueReader<T> reading, String... names) {
    ValueReader<Map<String, T>> parser =
        (field, value) -> {
          if (!(value instanceof Map<?, ?> entries)) {
            return wrongType(field, "an object", value);
          }
          Map<String, T> read = new LinkedHashMap<>();
          entries.forEach(
              (key, element) ->
                  reading
                      .read(field + "." + abbreviate(key), element)
                      .ifPresent(content -> read.put(String.valueOf(key), content)));
          return Optional.of(read);
        };
    return field(parser, names).orElse(Map.of());
  }

  /**
   * Reads an object with defined fields; the caller calls {@link #rejectUnknownFields} on the
   * result.
   */
  public Optional<DocumentReader> object(String name) {
    return field(this::asObject, name);
  }

  public Optional<DocumentReader> asObject(String field, @Nullable Object value) {
    return value instanceof Map<?, ?> fields
        ? Optional.of(new DocumentReader(field + ".", fields, violations))
        : wrongType(field, "an object", value);
  }

  public Optional<String> asText(String field, @Nullable Object value) {
    return value instanceof String text ? Optional.of(text) : wrongType(field, "a string", value);
  }

  public Optional<Boolean> asFlag(String field, @Nullable Object value) {
    return value instanceof Boolean flag
        ? Optional.of(flag)
        : wrongType(field, "true or false", value);
  }

  public Optional<Double> asDecimal(String field, @Nullable Object value) {
    return asNumber(field, value).map(BigDecimal::doubleValue);
  }

  public Optional<Long> asLong(String field, @Nullable Object value) {
    return asNumber(field, value)
        .flatMap(
            number -> {
              try {
                return Optional.of(number.longValueExact());
              } catch (ArithmeticException e) {
                return reject(field, "must be a whole number: " + abbreviate(value));
              }
            });
  }

  public Optional<Integer> asInt(String field, @Nullable Object value) {
    return asLong(field, value)
        .flatMap(
            number ->
                number == number.intValue()
                    ? Optional.of(number.intValue())
                    : reject(field, "is out of range: " + number));
  }

  Optional<List<?>> asList(String field, @Nullable Object value) {
    return value instanceof List<?> elements
        ? Optional.of(elements)
        : wrongType(field, "a list", value);
  }

  /** Declares fields as known. */
  public void expect(String... names) {
    known.addAll(List.of(names));
  }

  /**
   * Reports the fields that are not known.
   *
   * @param elsewhere fields that exist in another object or version, with its name
   */
  public void rejectUnknownFields(Map<String, String> elsewhere) {
    for (Object key : tree.keySet()) {
      String name = String.valueOf(key);
      if (!known.contains(name)) {
        String place = elsewhere.get(name);
        reject(
            prefix + abbreviate(key),
            place != null
                ? "is not a field here; it belongs to " + place
                : "is not a field" + hint(name, known));
      }
    }
  }

  public void rejectUnknownFields() {
    rejectUnknownFields(Map.of());
  }

  /** Returns a suggestion for a violation, as long as there are few. */
  public String hint(String wrong, Collection<String> names) {
    return Suggestion.hint(wrong, names, violations);
  }

  /** Records a violation and returns empty. */
  public <T> Optional<T> reject(String field, String problem) {
    violations.add(new Violation(field, problem));
    return Optional.empty();
  }

  /** Records that a value has another type than expected, and returns empty. */
  public <T> Optional<T> wrongType(String field, String expected, @Nullable Object value) {
    return reject(field, "must be " + expected + ", not " + kind(value));
  }

  private Optional<BigDecimal> asNumber(String field, @Nullable Object value) {
    if (!(value instanceof Number number)) {
      return wrongType(field, "a number", value);
    }
    try {
      BigDecimal exact = number instanceof BigDecimal big ? big : new BigDecimal(number.toString());
      // Rounding a number such as 1e-999999999 takes minutes.
      return Math.abs((long) exact.scale()) <= MAX_DIGITS
          ? Optional.of(exact)
          : reject(field, "is out of range");
    } catch (NumberFormatException e) {
      return reject(field, "must be a number: " + number);
    }
  }

  /** Reads a number of units; fractions are allowed. */
  Optional<Duration> asDuration(String field, @Nullable Object value, Duration unit) {
    return asNumber(field, value)
        .flatMap(
            number -> {
              BigDecimal nanos =
                  number
                      .multiply(BigDecimal.valueOf(unit.toNanos()))
                      .setScale(0, RoundingMode.DOWN);
              if (nanos.abs().compareTo(MAX_NANOS) > 0) {
                return reject(field, "is out of range: " + abbreviate(value));
              }
              BigDecimal[] parts = nanos.divideAndRemainder(BigDecimal.valueOf(1_000_000_000));
              return Optional.of(
                  Duration.ofSeconds(parts[0].longValueExact(), parts[1].longValueExact()));
            });
  }

  private static String kind(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case String ignored -> "a string";
      case Boolean ignored -> "true or false";
      case Number ignored -> "a number";
      case List<?> ignored -> "a list";
      case Map<?, ?> ignored -> "an object";
      default -> value.getClass().getSimpleName();
    };
  }

  /** Returns the text of a value for a message, truncated if it is long. */
  public static String abbreviate(@Nullable Object value) {
    String text = String.valueOf(value);
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }
}
