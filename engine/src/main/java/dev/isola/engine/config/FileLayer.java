package dev.isola.engine.config;

import dev.isola.document.NearMiss;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Takes values out of the file. An empty value is as good as none. */
final class FileLayer {
  private final YamlFile file;
  private final Layers layers;
  private final Names names;
  private final List<PoolEntry> pool = new ArrayList<>();

  FileLayer(YamlFile file, Layers layers, Names names) {
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
                      .ifPresent(type -> names.declare(String.valueOf(name), type)));
    }
    section("", file.tree());
  }

  List<PoolEntry> pool() {
    return pool;
  }

  private void section(String prefix, Map<?, ?> section) {
    section.forEach((key, value) -> value(prefix + key, value));
  }

  private void value(String name, @Nullable Object value) {
    Optional<Key<?>> key = Keys.named(name);
    if (key.isEmpty() && !isSection(name)) {
      layers.refuse(file.at(name), name, "is not a key" + hint(name));
    } else if (value == null) {
      return;
    } else if (key.isPresent()) {
      layers.put(key.get(), value, file.at(name));
    } else if (name.equals("pool")) {
      new PoolReader(file, layers, names).read(value).forEach(pool::add);
    } else if (!(value instanceof Map<?, ?> section)) {
      layers.refuse(
          file.at(name),
          name,
          "must be a section with " + inside(name) + ", not " + Kind.sort(value));
    } else if (name.equals("providers")) {
      section.forEach((provider, settings) -> provider(String.valueOf(provider), settings));
    } else {
      section(name + ".", section);
    }
  }

  private void provider(String written, @Nullable Object settings) {
    String place = "providers." + written;
    Optional<String> type = file.text(place + ".type");
    Optional<String> name =
        names.configured(written, type, file.at(type.isPresent() ? place + ".type" : place));
    if (settings == null) {
      return;
    }
    if (!(settings instanceof Map<?, ?> section)) {
      layers.refuse(
          file.at(place), place, "must be a section with settings, not " + Kind.sort(settings));
      return;
    }
    section.forEach(
        (setting, value) -> {
          String at = place + "." + setting;
          Optional<String> text = file.text(at);
          if (value != null && text.isEmpty()) {
            layers.refuse(
                file.at(at), at, "must be text, a number or a flag, not " + Kind.sort(value));
          } else if (value != null && name.isPresent()) {
            layers.put(name.get(), String.valueOf(setting), text.orElseThrow(), file.at(at));
          }
        });
  }

  private static boolean isSection(String name) {
    return name.equals("providers")
        || name.equals("pool")
        || Keys.ALL.stream().anyMatch(key -> key.name().startsWith(name + "."));
  }

  private static String inside(String section) {
    return section.equals("providers")
        ? "names of providers"
        : String.join(", ", children(section + "."));
  }

  /** Returns the names that may stand right beneath {@code prefix}. */
  private static Set<String> children(String prefix) {
    Set<String> names = new TreeSet<>();
    for (Key<?> key : Keys.ALL) {
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
    for (Key<?> key : Keys.ALL) {
      if (key.name().endsWith("." + own)) {
        return ", but " + key.name() + " is";
      }
    }
    return NearMiss.hint(own, children(name.substring(0, dot + 1)));
  }
}
