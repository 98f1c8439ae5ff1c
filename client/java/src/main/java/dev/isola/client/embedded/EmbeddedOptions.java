package dev.isola.client.embedded;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Options of an embedded engine. The configuration file and the environment variables of {@code
 * isola serve} do not apply, so that the engine never uses the state of an installation.
 *
 * @param folder with images, volumes, snapshots and the ledger, kept after close; if empty, a
 *     temporary folder that is removed on close
 * @param providers to use, by name; if empty, the ones that need no daemon: bubblewrap, crun, runc
 *     and, for specs that name it, subprocess, which does not isolate
 * @param settings further configuration values, such as {@code sandbox.ttl} = {@code 10m}
 */
public record EmbeddedOptions(
    Optional<Path> folder, List<String> providers, Map<String, String> settings) {
  public static final EmbeddedOptions DEFAULT =
      new EmbeddedOptions(Optional.empty(), List.of(), Map.of());

  private static final String FOLDER = "isola.embedded.folder";
  private static final String PROVIDERS = "isola.embedded.providers";

  public EmbeddedOptions {
    providers = List.copyOf(providers);
    settings = Map.copyOf(settings);
  }

  /**
   * Returns the options given by the system properties {@code isola.embedded.folder} and {@code
   * isola.embedded.providers}, a list with commas.
   */
  public static EmbeddedOptions ofSystemProperties() {
    Optional<Path> folder =
        Optional.of(System.getProperty(FOLDER, "")).filter(text -> !text.isEmpty()).map(Path::of);
    List<String> providers =
        Stream.of(System.getProperty(PROVIDERS, "").split(","))
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .toList();
    return new EmbeddedOptions(folder, providers, Map.of());
  }

  public EmbeddedOptions withFolder(Path path) {
    return new EmbeddedOptions(Optional.of(path), providers, settings);
  }

  public EmbeddedOptions withProviders(String... names) {
    return new EmbeddedOptions(folder, List.of(names), settings);
  }

  /** Returns options with a configuration value; docs/config.md lists the keys. */
  public EmbeddedOptions with(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(settings);
    more.put(key, value);
    return new EmbeddedOptions(folder, providers, more);
  }
}
