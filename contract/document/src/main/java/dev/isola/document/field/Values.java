package dev.isola.document.field;

import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

/** The values of the fields of one object, as they were read. */
public final class Values {
  private final String path;
  private final DocumentReader in;
  private final Map<Field<?, ?>, Object> read;
  private final Set<Field<?, ?>> given;

  Values(String path, DocumentReader in, Map<Field<?, ?>, Object> read, Set<Field<?, ?>> given) {
    this.path = path;
    this.in = in;
    this.read = read;
    this.given = given;
  }

  /** Returns the value of an optional field; empty if it is absent or was rejected. */
  public <V> Optional<V> find(Field<?, V> field) {
    @SuppressWarnings("unchecked") // filled by ObjectType with what the field read
    V value = (V) read.get(field);
    return Optional.ofNullable(value);
  }

  /** Returns the value of an optional field, or {@code fallback}. */
  public <V> V get(Field<?, V> field, V fallback) {
    return find(field).orElse(fallback);
  }

  /** Returns the value of a required field. */
  public <V> V get(Field<?, V> field) {
    return find(field)
        .orElseThrow(() -> new NoSuchElementException("the field " + field + " is not required"));
  }

  /** Returns whether the document has the field, even if its value was rejected. */
  public boolean isGiven(Field<?, ?> field) {
    return given.contains(field);
  }

  /** Records a violation of the object and returns empty. */
  public <X> Optional<X> reject(String problem) {
    return in.reject(path, problem);
  }

  /** Records a violation of a field and returns empty. */
  public <X> Optional<X> reject(Field<?, ?> field, String problem) {
    return in.reject(path.isEmpty() ? field.name() : path + "." + field.name(), problem);
  }
}
