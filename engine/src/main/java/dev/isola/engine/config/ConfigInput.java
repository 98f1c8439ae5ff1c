package dev.isola.engine.config;

import dev.isola.spi.provider.ProviderSetting;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The inputs of a configuration, in increasing order of precedence.
 *
 * @param machine determines defaults
 * @param file the configuration file, which must exist if given
 * @param flags values with their keys and the flags that set them
 * @param providers the names of the installed providers, besides the built-in ones
 * @param settings the settings that installed providers declare, by provider name
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
   * @param flag the flag as written, such as {@code --set floor}
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

  /** Creates inputs for providers that declare no settings. */
  public ConfigInput(
      MachineInfo machine,
      Optional<Path> file,
      Map<String, String> environment,
      List<FlagValue> flags,
      Collection<String> providers) {
    this(machine, file, environment, flags, providers, Map.of());
  }

  /** Omits the values of the environment, which often contains secrets. */
  @Override
  public String toString() {
    return "file " + file + ", " + environment.size() + " variables, flags " + flags;
  }
}
