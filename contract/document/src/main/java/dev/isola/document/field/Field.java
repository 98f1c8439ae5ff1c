package dev.isola.document.field;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A field of an object: everything that is said about it, once. The methods that return the field
 * itself complete its description while the table that contains it is created; after that it does
 * not change.
 *
 * @param <T> the object
 * @param <V> the value of the field
 */
public final class Field<T, V> {
  /**
   * Another name of a field.
   *
   * @param note why clients should not use it; empty if the OpenAPI document does not show it
   */
  public record Alias(String name, Optional<String> note) {}

  /** How often a field occurs in documents. */
  enum Presence {
    REQUIRED,
    OPTIONAL
  }

  private final String name;
  private final Type<V> type;
  private final String description;
  private final Presence presence;
  private final Function<T, Optional<V>> value;
  private final List<Alias> aliases = new ArrayList<>();
  private Predicate<V> omitted = any -> false;
  private @Nullable Object example;
  private @Nullable String otherVersion;
  private boolean secret;
  private boolean confidential;
  private boolean requestOnly;
  private boolean deprecated;
  private boolean forBackend = true;

  Field(
      String name,
      Type<V> type,
      String description,
      Presence presence,
      Function<T, Optional<V>> value) {
    this.name = name;
    this.type = type;
    this.description = description;
    this.presence = presence;
    this.value = value;
  }

  /** Adds a name of another API, which is read but not shown. */
  public Field<T, V> alias(String other) {
    aliases.add(new Alias(other, Optional.empty()));
    return this;
  }

  /** Adds an earlier name, which is read and shown as deprecated. */
  public Field<T, V> deprecatedAlias(String other, String note) {
    aliases.add(new Alias(other, Optional.of(note)));
    return this;
  }

  /** Sets the value in the example of the object. */
  public Field<T, V> example(Object written) {
    example = written;
    return this;
  }

  /** Omits a value that says nothing. */
  public Field<T, V> omittedIf(Predicate<V> condition) {
    omitted = condition;
    return this;
  }

  /** Marks a value that is neither stored in the document nor returned. */
  public Field<T, V> secret() {
    secret = true;
    return this;
  }

  /**
   * Marks a value that may contain a secret. Of a list the elements are confidential, of a map the
   * values.
   */
  public Field<T, V> confidential() {
    confidential = true;
    return this;
  }

  /** Marks a field that only requests have. */
  public Field<T, V> requestOnly() {
    requestOnly = true;
    return this;
  }

  /** Marks a field that clients should not use any more. */
  public Field<T, V> deprecated() {
    deprecated = true;
    return this;
  }

  /** Marks a field that the server itself handles, so that no other machine needs it. */
  public Field<T, V> notForBackend() {
    forBackend = false;
    return this;
  }

  /**
   * Marks a field that this object has in another version only.
   *
   * @param where the version, for the error message
   */
  public Field<T, V> onlyIn(String where) {
    otherVersion = where;
    return requestOnly().deprecated();
  }

  public String name() {
    return name;
  }

  public Type<V> type() {
    return type;
  }

  public String description() {
    return description;
  }

  public List<Alias> aliases() {
    return List.copyOf(aliases);
  }

  public Optional<Object> example() {
    return Optional.ofNullable(example);
  }

  public boolean isRequired() {
    return presence == Presence.REQUIRED;
  }

  public boolean isSecret() {
    return secret;
  }

  /** Returns whether the value is secret or has a field that is. */
  public boolean hasSecret() {
    return secret
        || (type instanceof ObjectType<?> object
            && object.fields().stream().anyMatch(Field::hasSecret));
  }

  public boolean isConfidential() {
    return confidential;
  }

  public boolean isRequestOnly() {
    return requestOnly;
  }

  public boolean isDeprecated() {
    return deprecated;
  }

  public boolean isForBackend() {
    return forBackend;
  }

  /** Returns the version that has the field; empty if it is the current one. */
  public Optional<String> otherVersion() {
    return Optional.ofNullable(otherVersion);
  }

  /** Returns the name and the aliases. */
  public Stream<String> names() {
    return Stream.concat(Stream.of(name), aliases.stream().map(Alias::name));
  }

  /** Returns the value of the field in {@code object}. */
  public Optional<V> of(T object) {
    return value.apply(object);
  }

  Optional<V> read(DocumentReader in) {
    DocumentReader.ValueReader<V> reading = (field, given) -> type.read(in, field, given);
    return isRequired()
        ? in.required(reading, name)
        : in.field(reading, names().toArray(String[]::new));
  }

  void write(T object, Form form, Map<String, Object> document) {
    if (requestOnly || !form.includes().test(this)) {
      return;
    }
    value
        .apply(object)
        .filter(omitted.negate())
        .ifPresent(
            present -> {
              Object written = type.write(present, form);
              document.put(name, confidential ? guarded(written, form) : written);
            });
  }

  private Object guarded(Object written, Form form) {
    return switch (type) {
      case Type.ListOf<?> _ -> ((List<?>) written).stream().map(form.confidential()).toList();
      case Type.MapOf<?> _ -> {
        Map<String, Object> values = new LinkedHashMap<>();
        ((Map<?, ?>) written)
            .forEach((key, one) -> values.put(String.valueOf(key), form.confidential().apply(one)));
        yield values;
      }
      default -> form.confidential().apply(written);
    };
  }

  @Override
  public String toString() {
    return name;
  }
}
