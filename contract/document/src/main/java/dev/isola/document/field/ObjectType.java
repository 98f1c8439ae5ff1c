package dev.isola.document.field;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An object with defined fields.
 *
 * @param <T> the Java type of the object
 */
public final class ObjectType<T> implements Type<T> {
  /** Collects the fields of an object, in the order of the table. */
  public static final class Fields<T> {
    private final List<Field<T, ?>> fields = new ArrayList<>();

    /** Adds a field that every document has. */
    public <V> Field<T, V> required(
        String name, Type<V> type, String description, Function<T, V> value) {
      return add(
          new Field<>(
              name,
              type,
              description,
              Field.Presence.REQUIRED,
              object -> Optional.of(value.apply(object))));
    }

    /** Adds a field that has a value in every object, because it has a default. */
    public <V> Field<T, V> defaulted(
        String name, Type<V> type, String description, Function<T, V> value) {
      return optional(name, type, description, object -> Optional.of(value.apply(object)));
    }

    /** Adds a field that may be absent. */
    public <V> Field<T, V> optional(
        String name, Type<V> type, String description, Function<T, Optional<V>> value) {
      return add(new Field<>(name, type, description, Field.Presence.OPTIONAL, value));
    }

    private <V> Field<T, V> add(Field<T, V> field) {
      fields.add(field);
      return field;
    }

    /**
     * Returns the type of the object.
     *
     * @param name the name of the schema
     * @param create creates the object; it is called only if all required fields could be read. An
     *     {@link IllegalArgumentException} rejects the object with its message
     */
    public ObjectType<T> as(String name, Function<Values, T> create) {
      return orRejected(name, values -> Optional.of(create.apply(values)));
    }

    /**
     * Returns the type of the object.
     *
     * @param create returns empty after {@link Values#reject}
     */
    public ObjectType<T> orRejected(String name, Function<Values, Optional<T>> create) {
      return new ObjectType<>(name, name, fields, create);
    }
  }

  private final String name;
  private final String requestName;
  private final List<Field<T, ?>> fields;
  private final Function<Values, Optional<T>> create;

  private ObjectType(
      String name,
      String requestName,
      List<Field<T, ?>> fields,
      Function<Values, Optional<T>> create) {
    this.name = name;
    this.requestName = requestName;
    this.fields = List.copyOf(fields);
    this.create = create;
  }

  /** Returns this type with another name for its form in requests. */
  public ObjectType<T> inRequests(String other) {
    return new ObjectType<>(name, other, fields, create);
  }

  public String name() {
    return name;
  }

  public String requestName() {
    return requestName;
  }

  public List<Field<T, ?>> fields() {
    return fields;
  }

  @Override
  public Optional<T> read(DocumentReader in, String field, @Nullable Object value) {
    return in.asObject(field, value).flatMap(object -> read(object, field));
  }

  /** Reads a whole document; returns empty if it could not be read at all. */
  public Optional<T> read(DocumentReader document) {
    return read(document, "");
  }

  private Optional<T> read(DocumentReader in, String path) {
    Map<Field<?, ?>, Object> read = new LinkedHashMap<>();
    Set<Field<?, ?>> given = new HashSet<>();
    Map<String, String> elsewhere = new LinkedHashMap<>();
    boolean complete = true;
    for (Field<T, ?> field : fields) {
      if (field.otherVersion().isPresent()) {
        elsewhere.put(field.name(), field.otherVersion().get());
        continue;
      }
      if (field.names().anyMatch(in::has)) {
        given.add(field);
      }
      Optional<?> value = field.read(in);
      value.ifPresent(present -> read.put(field, present));
      complete &= value.isPresent() || !field.isRequired();
    }
    in.rejectUnknownFields(elsewhere);
    if (!complete) {
      return Optional.empty();
    }
    Values values = new Values(path, in, read, given);
    try {
      return create.apply(values);
    } catch (IllegalArgumentException e) {
      return values.reject(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public Map<String, Object> write(T value, Form form) {
    Map<String, Object> document = new LinkedHashMap<>();
    fields.forEach(field -> field.write(value, form, document));
    return document;
  }

  @Override
  public boolean accepts(@Nullable Object value) {
    return value instanceof Map;
  }
}
