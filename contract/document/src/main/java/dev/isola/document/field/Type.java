package dev.isola.document.field;

import dev.isola.spi.Bytes;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The type of a value in a document: reads it, writes it, and describes it as data.
 *
 * @param <T> the Java type of the value
 */
public sealed interface Type<T>
    permits Type.Text,
        Type.Whole,
        Type.Int,
        Type.Decimal,
        Type.Flag,
        Type.Time,
        Type.Choice,
        Type.Content,
        Type.ListOf,
        Type.MapOf,
        Type.OneOf,
        Type.Mapped,
        ObjectType {
  /** Reads a value; records a violation and returns empty if it is rejected. */
  Optional<T> read(DocumentReader in, String field, @Nullable Object value);

  /** Writes a value so that {@link #read} returns an equal one. */
  Object write(T value, Form form);

  /** Returns whether {@link #read} can read a JSON value of this kind. */
  boolean accepts(@Nullable Object value);

  /**
   * Returns this type for another Java type.
   *
   * @param from throws {@link IllegalArgumentException} with the problem as its message if it
   *     rejects a value
   */
  default <U> Type<U> map(Function<T, U> from, Function<U, T> to) {
    return new Mapped<>(this, from, to);
  }

  private static <A, T> Optional<T> converted(
      DocumentReader in, String field, Optional<A> read, Function<A, T> from) {
    try {
      return read.map(from);
    } catch (IllegalArgumentException e) {
      return in.reject(field, String.valueOf(e.getMessage()));
    }
  }

  /** Returns a string of any length. */
  static Text text() {
    return new Text(Integer.MAX_VALUE, true, Optional.empty(), "", "text", true);
  }

  /** Returns a string that is not blank. */
  static Text text(int longest) {
    return new Text(longest, false, Optional.empty(), "", "name", true);
  }

  /** Returns a string that may be blank. */
  static Text textOrBlank(int longest) {
    return new Text(longest, true, Optional.empty(), "", "text", true);
  }

  /**
   * Returns a string in which a pattern occurs.
   *
   * @param pattern with {@code ^} and {@code $} where it describes the whole string
   * @param rule the pattern in words, such as {@code must be an absolute path}
   */
  static Text matching(String pattern, int longest, String rule, String example) {
    return new Text(
        longest,
        true,
        Optional.of(Pattern.compile(pattern.replaceFirst("\\$$", "\\\\z"))),
        rule,
        example,
        true);
  }

  static Flag flag() {
    return new Flag();
  }

  static Whole whole(long least, long most) {
    return new Whole(least, most, true);
  }

  static Int integer(int least, int most) {
    return new Int(least, most, true);
  }

  /** Returns a number of seconds, more than none and at most ten years. */
  static Time seconds() {
    return new Time(Duration.ofSeconds(1), Time.Bound.POSITIVE);
  }

  /** Returns a number of milliseconds, more than none and at most ten years. */
  static Time millis() {
    return new Time(Duration.ofMillis(1), Time.Bound.POSITIVE);
  }

  /** Returns a constant of an enum, written in lower case. */
  static <E extends Enum<E>> Choice<E> choice(String name, Class<E> type) {
    return new Choice<>(
        name,
        List.of(type.getEnumConstants()),
        constant -> constant.name().toLowerCase(Locale.ROOT));
  }

  static <E> ListOf<E> list(Type<E> of) {
    return new ListOf<>(of, Integer.MAX_VALUE, true);
  }

  /** Returns an object with arbitrary member names. */
  static <V> MapOf<V> entries(Type<V> of) {
    return new MapOf<>(textOrBlank(4096).checkedLater(), of, Integer.MAX_VALUE);
  }

  /**
   * A string.
   *
   * @param pattern occurs in the string
   * @param rule the pattern in words
   * @param checked whether reading checks it
   */
  record Text(
      int longest,
      boolean blank,
      Optional<Pattern> pattern,
      String rule,
      String example,
      boolean checked)
      implements Type<String> {
    /**
     * Returns this type for values that are checked together with others, after the whole document
     * was read.
     */
    public Text checkedLater() {
      return new Text(longest, blank, pattern, rule, example, false);
    }

    /** Returns what is wrong with a string. */
    Optional<String> problem(String text) {
      if (!checked) {
        return Optional.empty();
      }
      if (!blank && text.isBlank()) {
        return Optional.of("is blank");
      }
      if (pattern.isPresent() && !pattern.get().matcher(text).find()) {
        return Optional.of(rule + ": '" + DocumentReader.abbreviate(text) + "'");
      }
      if (text.length() > longest) {
        return Optional.of("is longer than " + longest + " characters");
      }
      boolean limited = longest < Integer.MAX_VALUE;
      return limited && text.indexOf('\0') >= 0 ? Optional.of("contains a NUL") : Optional.empty();
    }

    @Override
    public Optional<String> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asText(field, value)
          .flatMap(
              text ->
                  problem(text)
                      .<Optional<String>>map(problem -> in.reject(field, problem))
                      .orElse(Optional.of(text)));
    }

    @Override
    public Object write(String value, Form form) {
      return value;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof String;
    }
  }

  /** An integer in a range. */
  record Whole(long least, long most, boolean checked) implements Type<Long> {
    /** Returns this type for values that are checked after the whole document was read. */
    public Whole checkedLater() {
      return new Whole(least, most, false);
    }

    @Override
    public Optional<Long> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asLong(field, value)
          .flatMap(
              number ->
                  !checked || (number >= least && number <= most)
                      ? Optional.of(number)
                      : in.reject(field, "must be " + least + " to " + most + ": " + number));
    }

    @Override
    public Object write(Long value, Form form) {
      return value;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Number;
    }
  }

  /** An integer in a range of {@code int}. */
  record Int(int least, int most, boolean checked) implements Type<Integer> {
    /** Returns this type for values that are checked after the whole document was read. */
    public Int checkedLater() {
      return new Int(least, most, false);
    }

    @Override
    public Optional<Integer> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asInt(field, value)
          .flatMap(number -> new Whole(least, most, checked).read(in, field, number))
          .map(Long::intValue);
    }

    @Override
    public Object write(Integer value, Form form) {
      return value;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Number;
    }
  }

  /** A number above one limit and up to another. */
  record Decimal(double above, double most) implements Type<Double> {
    @Override
    public Optional<Double> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asDecimal(field, value)
          .flatMap(
              number ->
                  number > above && number <= most
                      ? Optional.of(number)
                      : in.reject(
                          field,
                          "must be more than " + plain(above) + " and at most " + plain(most)));
    }

    private static String plain(double number) {
      return BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
    }

    @Override
    public Object write(Double value, Form form) {
      return value;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Number;
    }
  }

  /** True or false. */
  record Flag() implements Type<Boolean> {
    @Override
    public Optional<Boolean> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asFlag(field, value);
    }

    @Override
    public Object write(Boolean value, Form form) {
      return value;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Boolean;
    }
  }

  /** A duration as a number of units, which may have fractions. */
  record Time(Duration unit, Bound bound) implements Type<Duration> {
    /** The longest duration in a spec. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    /** Which durations are allowed. */
    public enum Bound {
      POSITIVE,
      NOT_NEGATIVE,
      /** Checked by the Java type that contains the duration. */
      CHECKED_LATER
    }

    public Time orNone() {
      return new Time(unit, Bound.NOT_NEGATIVE);
    }

    /** Returns this type for values that are checked by the Java type that contains them. */
    public Time checkedLater() {
      return new Time(unit, Bound.CHECKED_LATER);
    }

    @Override
    public Optional<Duration> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asDuration(field, value, unit).flatMap(time -> check(in, field, time));
    }

    private Optional<Duration> check(DocumentReader in, String field, Duration time) {
      boolean within = time.compareTo(LONGEST) <= 0;
      return switch (bound) {
        case POSITIVE ->
            within && time.isPositive()
                ? Optional.of(time)
                : in.reject(field, "must be more than 0 and at most 3650 days");
        case NOT_NEGATIVE ->
            within && !time.isNegative()
                ? Optional.of(time)
                : in.reject(field, "must be 0 to 3650 days");
        case CHECKED_LATER -> Optional.of(time);
      };
    }

    /** Writes an integer if possible. */
    @Override
    public Object write(Duration value, Form form) {
      BigDecimal nanos =
          BigDecimal.valueOf(value.getSeconds())
              .movePointRight(9)
              .add(BigDecimal.valueOf(value.getNano()));
      BigDecimal count = nanos.divide(BigDecimal.valueOf(unit.toNanos())).stripTrailingZeros();
      return count.scale() <= 0 ? (Object) count.longValueExact() : count;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Number;
    }
  }

  /**
   * One of several constants.
   *
   * @param name the name of the schema
   * @param word returns the word for a constant
   */
  record Choice<E>(String name, List<E> constants, Function<E, String> word) implements Type<E> {
    public List<String> words() {
      return constants.stream().map(word).toList();
    }

    @Override
    public Optional<E> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asText(field, value).flatMap(text -> constant(in, field, text));
    }

    private Optional<E> constant(DocumentReader in, String field, String text) {
      return constants.stream()
          .filter(one -> word.apply(one).equals(text))
          .findFirst()
          .or(
              () ->
                  in.reject(
                      field,
                      "must be one of "
                          + String.join(", ", words())
                          + ": "
                          + DocumentReader.abbreviate(text)
                          + in.hint(text, words())));
    }

    @Override
    public Object write(E value, Form form) {
      return word.apply(value);
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof String;
    }
  }

  /** Bytes: a string, or an object with base64. */
  record Content() implements Type<Bytes> {
    @Override
    public Optional<Bytes> read(DocumentReader in, String field, @Nullable Object value) {
      return switch (value) {
        case String text -> Optional.of(Bytes.utf8(text));
        case Map<?, ?> object -> in.asObject(field, object).flatMap(Content::bytes);
        case null, default -> in.reject(field, "must be a string, or an object with base64");
      };
    }

    private static Optional<Bytes> bytes(DocumentReader in) {
      Optional<Bytes> bytes =
          in.required(
              (field, value) ->
                  in.asText(field, value)
                      .flatMap(
                          text -> {
                            try {
                              return Optional.of(Bytes.of(Base64.getDecoder().decode(text)));
                            } catch (IllegalArgumentException e) {
                              return in.reject(field, "is not base64: " + e.getMessage());
                            }
                          }),
              "base64");
      in.rejectUnknownFields();
      return bytes;
    }

    /** Writes UTF-8 content as text, so that the document stays readable. */
    @Override
    public Object write(Bytes value, Form form) {
      String text = value.utf8();
      return Bytes.utf8(text).equals(value)
          ? text
          : Map.of("base64", Base64.getEncoder().encodeToString(value.toArray()));
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof String || value instanceof Map;
    }
  }

  /** A list; reading omits rejected elements. */
  record ListOf<E>(Type<E> of, int most, boolean checked) implements Type<List<E>> {
    public ListOf<E> atMost(int elements) {
      return new ListOf<>(of, elements, checked);
    }

    /** Returns this type for lists whose length is checked after the whole document was read. */
    public ListOf<E> checkedLater() {
      return new ListOf<>(of, most, false);
    }

    @Override
    public Optional<List<E>> read(DocumentReader in, String field, @Nullable Object value) {
      return in.asList(field, value)
          .map(
              elements -> {
                if (checked && elements.size() > most) {
                  in.reject(field, "has more than " + most + " elements");
                }
                List<E> read = new ArrayList<>();
                for (int i = 0; i < elements.size(); i++) {
                  of.read(in, field + "[" + i + "]", elements.get(i)).ifPresent(read::add);
                }
                return read;
              });
    }

    @Override
    public Object write(List<E> value, Form form) {
      return value.stream().map(element -> of.write(element, form)).toList();
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof List;
    }
  }

  /** An object with arbitrary member names; reading omits rejected entries. */
  record MapOf<V>(Text names, Type<V> of, int most) implements Type<Map<String, V>> {
    public MapOf<V> atMost(int entries) {
      return new MapOf<>(names, of, entries);
    }

    /** Returns this type with a rule for the names of members. */
    public MapOf<V> named(Text rule) {
      return new MapOf<>(rule, of, most);
    }

    @Override
    public Optional<Map<String, V>> read(DocumentReader in, String field, @Nullable Object value) {
      if (!(value instanceof Map<?, ?> entries)) {
        return in.wrongType(field, "an object", value);
      }
      if (entries.size() > most) {
        in.reject(field, "has more than " + most + " entries");
      }
      Map<String, V> read = new LinkedHashMap<>();
      entries.forEach(
          (key, element) -> {
            String name = String.valueOf(key);
            names.problem(name).ifPresent(problem -> in.reject(field, problem));
            of.read(in, field + "." + DocumentReader.abbreviate(key), element)
                .ifPresent(content -> read.put(name, content));
          });
      return Optional.of(read);
    }

    @Override
    public Object write(Map<String, V> value, Form form) {
      Map<String, Object> written = new LinkedHashMap<>();
      value.forEach((name, one) -> written.put(name, of.write(one, form)));
      return written;
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return value instanceof Map;
    }
  }

  /**
   * A value of one of several types, which differ in the kind of their JSON values.
   *
   * @param name the name of the schema
   * @param problem the violation of a value of another kind
   */
  record OneOf<T>(String name, String problem, List<Alternative<T, ?>> alternatives)
      implements Type<T> {
    /**
     * One of the types.
     *
     * @param to returns the value to write; empty if another alternative must be used
     * @param requestOnly whether a value is never written in this form
     */
    public record Alternative<T, V>(
        Type<V> type, Function<V, T> from, Function<T, Optional<V>> to, boolean requestOnly) {
      public Alternative(Type<V> type, Function<V, T> from, Function<T, Optional<V>> to) {
        this(type, from, to, false);
      }

      /** Returns a form that only requests have. */
      public static <T, V> Alternative<T, V> inRequests(Type<V> type, Function<V, T> from) {
        return new Alternative<>(type, from, any -> Optional.empty(), true);
      }

      private Optional<T> read(DocumentReader in, String field, @Nullable Object value) {
        return converted(in, field, type.read(in, field, value), from);
      }

      private Optional<Object> write(T value, Form form) {
        return to.apply(value).map(one -> type.write(one, form));
      }
    }

    @Override
    public Optional<T> read(DocumentReader in, String field, @Nullable Object value) {
      for (Alternative<T, ?> alternative : alternatives) {
        if (alternative.type().accepts(value)) {
          return alternative.read(in, field, value);
        }
      }
      return in.reject(field, problem);
    }

    @Override
    public Object write(T value, Form form) {
      return alternatives.stream()
          .flatMap(alternative -> alternative.write(value, form).stream())
          .findFirst()
          .orElseThrow(() -> new IllegalStateException(name + " has no form for a value"));
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return alternatives.stream().anyMatch(alternative -> alternative.type().accepts(value));
    }
  }

  /** A type with another Java type. */
  record Mapped<T, A>(Type<A> of, Function<A, T> from, Function<T, A> to) implements Type<T> {
    @Override
    public Optional<T> read(DocumentReader in, String field, @Nullable Object value) {
      return converted(in, field, of.read(in, field, value), from);
    }

    @Override
    public Object write(T value, Form form) {
      return of.write(to.apply(value), form);
    }

    @Override
    public boolean accepts(@Nullable Object value) {
      return of.accepts(value);
    }
  }
}
