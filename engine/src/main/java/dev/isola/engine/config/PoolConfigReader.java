package dev.isola.engine.config;

import dev.isola.document.SpecDocument;
import dev.isola.document.field.Suggestion;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderNames;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.InvalidRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the configuration of the warm pool. */
final class PoolConfigReader {
  private static final Set<String> FIELDS = Set.of("spec", "provider", "size");
  private static final ValueType<Long> SIZE = new ScalarTypes.WholeNumber(0, 10_000);
  private static final ValueType<String> PROVIDER = new ScalarTypes.ProviderName();

  private final YamlFile file;
  private final LayeredConfig layers;
  private final KnownProviders names;

  PoolConfigReader(YamlFile file, LayeredConfig layers, KnownProviders names) {
    this.file = file;
    this.layers = layers;
    this.names = names;
  }

  List<PoolConfig> read(Object value) {
    if (!(value instanceof List<?> list)) {
      layers.reject(
          file.originOf("pool"),
          "pool",
          "must be a list of {spec, provider, size}, not " + ValueType.typeName(value));
      return List.of();
    }
    List<PoolConfig> read = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      entry("pool[" + i + "]", list.get(i)).ifPresent(read::add);
    }
    return read;
  }

  private Optional<PoolConfig> entry(String keyPath, @Nullable Object value) {
    if (!(value instanceof Map<?, ?> fields)) {
      layers.reject(
          file.originOf(keyPath), keyPath, "must be a section with spec, provider and size");
      return Optional.empty();
    }
    for (Object field : fields.keySet()) {
      if (!(field instanceof String name) || !FIELDS.contains(name)) {
        String at = keyPath + "." + field;
        layers.reject(
            file.originOf(at), at, "is not a key" + Suggestion.hint(String.valueOf(field), FIELDS));
      }
    }
    Optional<Long> size = read(keyPath + ".size", fields.get("size"), SIZE);
    if (fields.get("size") == null) {
      layers.reject(file.originOf(keyPath), keyPath + ".size", "is missing");
    }
    Optional<String> provider =
        fields.get("provider") == null
            ? Optional.of(ProviderNames.AUTO)
            : read(keyPath + ".provider", fields.get("provider"), PROVIDER)
                .flatMap(
                    name ->
                        names.resolve(
                            name, file.originOf(keyPath + ".provider"), keyPath + ".provider"));
    Optional<CreateRequest> request = request(keyPath + ".spec", fields.get("spec"));
    return size.flatMap(
        count ->
            provider.flatMap(
                name ->
                    request.map(
                        created ->
                            new PoolConfig(
                                created.withProvider(ProviderNames.canonical(name)),
                                count.intValue(),
                                file.originOf(keyPath)))));
  }

  private <T> Optional<T> read(String keyPath, @Nullable Object value, ValueType<T> kind) {
    if (value == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(kind.read(value));
    } catch (InvalidValueException e) {
      layers.reject(file.originOf(keyPath), keyPath, e.problem());
      return Optional.empty();
    }
  }

  private Optional<CreateRequest> request(String keyPath, @Nullable Object value) {
    Map<String, Object> document = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> fields) {
      fields.forEach((name, content) -> document.put(String.valueOf(name), content));
    } else if (value != null) {
      layers.reject(
          file.originOf(keyPath), keyPath, "must be a section, not " + ValueType.typeName(value));
      return Optional.empty();
    }
    try {
      return Optional.of(SpecDocument.fromMap(document, () -> new SandboxId("pool")));
    } catch (InvalidRequest e) {
      e.context()
          .forEach(
              (field, problem) ->
                  layers.reject(
                      file.originOf(keyPath + "." + field), keyPath + "." + field, problem));
      return Optional.empty();
    }
  }
}
