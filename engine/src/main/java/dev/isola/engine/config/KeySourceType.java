package dev.isola.engine.config;

import dev.isola.engine.secret.KeySource;
import java.util.Optional;

/**
 * The source of the key for secrets. Problems do not quote it, because it may be the key itself by
 * mistake.
 *
 * @param absent describes the default
 */
record KeySourceType(String absent) implements ValueType<Optional<KeySource>> {
  @Override
  public Optional<KeySource> read(Object raw) throws InvalidValueException {
    Optional<KeySource> source =
        raw instanceof String text ? KeySource.parse(text.strip()) : Optional.empty();
    if (source.isEmpty()) {
      throw new InvalidValueException(
          "must be file: with an absolute path, env: with the name of a variable, or command: with"
              + " a shell command");
    }
    return source;
  }

  @Override
  public String show(Optional<KeySource> value) {
    return value.map(KeySource::toString).orElse(absent);
  }

  @Override
  public String description() {
    return "file:PATH, env:NAME or command:...";
  }
}
