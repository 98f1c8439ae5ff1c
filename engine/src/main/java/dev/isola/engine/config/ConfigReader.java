package dev.isola.engine.config;

import dev.isola.engine.api.ProviderNames;
import dev.isola.spi.Isolation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads a configuration: defaults, the file over them, the environment, flags. */
public final class ConfigReader {
  private ConfigReader() {}

  /** Reads everything there is, so that everything that is wrong is found at once. */
  public static ConfigResult read(Sources sources) {
    List<Problem> problems = new ArrayList<>();
    Layers layers = new Layers(sources.machine(), problems);
    Names names = new Names(sources.providers(), layers);
    List<PoolEntry> pool = List.of();
    if (sources.file().isPresent()) {
      Path path = sources.file().get();
      FileLayer file = new FileLayer(YamlFile.read(path, problems), layers, names);
      file.read();
      pool = file.pool();
    }
    EnvironmentLayer environment = new EnvironmentLayer(sources, layers, names);
    environment.read();
    new FlagLayer(sources.flags(), layers, names).read();

    Map<String, ProviderSettings> providers = layers.providers(sources.settings());
    Config config = new Config(layers.values(), providers, pool, List.of(), sources.machine());
    checkTogether(config, names, layers);
    if (!problems.isEmpty()) {
      return new ConfigResult.Bad(problems);
    }
    List<String> warnings = new ArrayList<>(environment.warnings());
    warnings.addAll(warnings(config, sources));
    return new ConfigResult.Good(
        new Config(layers.values(), providers, pool, warnings, sources.machine()));
  }

  /** Looks at what is right alone and wrong beside something else. */
  private static void checkTogether(Config config, Names names, Layers layers) {
    Origin given = config.origin(Keys.PROVIDER);
    names.provider(config.get(Keys.PROVIDER), given, Keys.PROVIDER.name());
    if (config.get(Keys.HEALTH_TIMEOUT).compareTo(config.get(Keys.HEALTH_INTERVAL)) > 0) {
      Origin origin = config.origin(Keys.HEALTH_TIMEOUT);
      layers.refuse(
          origin instanceof Origin.Default ? config.origin(Keys.HEALTH_INTERVAL) : origin,
          Keys.HEALTH_TIMEOUT.name(),
          "must not be longer than health.interval");
    }
  }

  private static List<String> warnings(Config config, Sources sources) {
    List<String> warnings = new ArrayList<>();
    if (config.get(Keys.ALLOW_PROCESS) && config.get(Keys.FLOOR) != Isolation.PROCESS) {
      warnings.add("allow_process does nothing unless floor is process");
    }
    String provider = config.get(Keys.PROVIDER);
    if (!provider.equals(ProviderNames.AUTO)
        && !sources.providers().contains(provider)
        && !config.providers().containsKey(provider)) {
      warnings.add("provider is " + ProviderNames.shown(provider) + ", which is not installed");
    }
    return warnings;
  }
}
