package dev.isola.engine.config;

import dev.isola.document.field.Suggestion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads values from the configuration file. An empty value counts as unset. */
final class FileLayer {
  private final YamlFile file;
  private final LayeredConfig layers;
  private final KnownProviders names;
  private final List<PoolConfig> pool = new ArrayList<>();

  FileLayer(YamlFile file, LayeredConfig layers, KnownProviders names) {
    this.file = file;
    this.layers = layers;
    this.names = names;
  }

  void read() {
    if (file.tree().get("providers") instanceof Map<?, ?> providers) {
      providers
          .keySet()
          .forEach(
              name ->
                  file.text("providers." + name + ".type")
                      .ifPresent(type -> names.declareInstance(String.valueOf(name), type)));
    }
    section("", file.tree());
  }

  List<PoolConfig> pool() {
    return pool;
  }

  private void section(String prefix, Map<?, ?> section) {
    section.forEach((key, value) -> value(prefix + key, value));
  }

  private void value(String name, @Nullable Object value) {
    Optional<ConfigKey<?>> key = ConfigKeys.find(name);
    if (key.isEmpty() && !isSection(name)) {
      layers.reject(file.originOf(name), name, "is not a key" + hint(name));
    } else if (value == null) {
      return;
    } else if (key.isPresent()) {
      layers.put(key.get(), value, file.originOf(name));
    } else if (name.equals("pool")) {
      new PoolConfigReader(file, layers, names).read(value).forEach(pool::add);
    } else if (!(value instanceof Map<?, ?> section)) {
      layers.reject(
          file.originOf(name),
          name,
          "must be a section with " + inside(name) + ", not " + ValueType.typeName(value));
    } else if (name.equals("providers")) {
      section.forEach((provider, settings) -> provider(String.valueOf(provider), settings));
    } else {
      section(name + ".", section);
    }
  }

  private void provider(String written, @Nullable Object settings) {
    String keyPath = "providers." + written;
    Optional<String> type = file.text(keyPath + ".type");
    Optional<String> name =
        names.resolveConfigured(
            written, type, file.originOf(type.isPresent() ? keyPath + ".type" : keyPath));
    if (settings == null) {
      return;
    }
    if (!(settings instanceof Map<?, ?> section)) {
      layers.reject(
          file.originOf(keyPath),
          keyPath,
          "must be a section with settings, not " + ValueType.typeName(settings));
      return;
    }
    section.forEach(
        (setting, value) -> {
          String at = keyPath + "." + setting;
          Optional<String> text = file.text(at);
          if (value != null && text.isEmpty()) {
            layers.reject(
                file.originOf(at),
                at,
                "must be a string, a number or a flag, not " + ValueType.typeName(value));
          } else if (value != null && name.isPresent()) {
            layers.put(name.get(), String.valueOf(setting), text.orElseThrow(), file.originOf(at));
          }
        });
  }

  private static boolean isSection(String name) {
    return name.equals("providers")
        || name.equals("pool")
        || ConfigKeys.ALL.stream().anyMatch(key -> key.name().startsWith(name + "."));
  }

  private static String inside(String section) {
    return section.equals("providers")
        ? "names of providers"
        : String.join(", ", children(section + "."));
  }

  /** Returns the names that are valid directly below {@code prefix}. */
  private static Set<String> children(String prefix) {
    Set<String> names = new TreeSet<>();
    for (ConfigKey<?> key : ConfigKeys.ALL) {
      if (key.name().startsWith(prefix)) {
        names.add(key.name().substring(prefix.length()).split("\\.")[0]);
      }
    }
    if (prefix.isEmpty()) {
      names.add("providers");
      names.add("pool");
    }
    return names;
  }

  private static String hint(String name) {
    int dot = name.lastIndexOf('.');
    String own = name.substring(dot + 1);
    for (ConfigKey<?> key : ConfigKeys.ALL) {
      if (key.name().endsWith("." + own)) {
        return ", but " + key.name() + " is";
      }
    }
    return Suggestion.hint(own, children(name.substring(0, dot + 1)));
  }
}
