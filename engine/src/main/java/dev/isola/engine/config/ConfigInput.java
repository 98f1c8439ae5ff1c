package dev.isola.engine.config;

import dev.isola.spi.provider.ProviderSetting;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where a configuration is read from, the weakest first.
 *
 * @param machine for the defaults
 * @param file must exist when it is given
 * @param flags values by key, with the flag that gave each
 * @param providers the names of those installed, besides those that Isola knows of
 * @param settings what the installed providers declare of their settings, by their names
 */
public record ConfigInput(
    MachineInfo machine,
    Optional<Path> file,
    Map<String, String> environment,
    List<FlagValue> flags,
    Collection<String> providers,
    Map<String, List<ProviderSetting>> settings) {
  /**
   * A value from the command line.
   *
   * @param flag as the person wrote it, such as {@code --set floor}
   */
  public record FlagValue(String flag, String key, String value) {
    @Override
    public String toString() {
      return flag;
    }
  }

  public ConfigInput {
    environment = Map.copyOf(environment);
    flags = List.copyOf(flags);
    providers = List.copyOf(providers);
    settings = Map.copyOf(settings);
  }

  /** Providers that declare nothing of their settings. */
  public ConfigInput(
      MachineInfo machine,
      Optional<Path> file,
      Map<String, String> environment,
      List<FlagValue> flags,
      Collection<String> providers) {
    this(machine, file, environment, flags, providers, Map.of());
  }

  /** The environment of a process is full of secrets. */
  @Override
  public String toString() {
    return "file " + file + ", " + environment.size() + " variables, flags " + flags;
  }
}
