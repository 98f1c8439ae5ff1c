package dev.isola.engine.config;

import dev.isola.engine.api.ProviderNames;
import dev.isola.spi.Isolation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads a configuration from defaults, file, environment and flags, each overriding the previous.
 */
public final class ConfigReader {
  private ConfigReader() {}

  /** Reads all inputs and reports all problems together. */
  public static ConfigResult read(ConfigInput sources) {
    List<ConfigProblem> problems = new ArrayList<>();
    LayeredConfig layers = new LayeredConfig(sources.machine(), problems);
    KnownProviders names = new KnownProviders(sources.providers(), layers);
    List<PoolConfig> pool = List.of();
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
      return new ConfigResult.Invalid(problems);
    }
    List<String> warnings = new ArrayList<>(environment.warnings());
    warnings.addAll(warnings(config, sources));
    return new ConfigResult.Valid(
        new Config(layers.values(), providers, pool, warnings, sources.machine()));
  }

  /** Checks settings that are valid individually but not in combination. */
  private static void checkTogether(Config config, KnownProviders names, LayeredConfig layers) {
    ValueOrigin given = config.origin(ConfigKeys.PROVIDER);
    names.resolve(config.get(ConfigKeys.PROVIDER), given, ConfigKeys.PROVIDER.name());
    if (config.get(ConfigKeys.HEALTH_TIMEOUT).compareTo(config.get(ConfigKeys.HEALTH_INTERVAL))
        > 0) {
      ValueOrigin origin = config.origin(ConfigKeys.HEALTH_TIMEOUT);
      layers.reject(
          origin instanceof ValueOrigin.Default
              ? config.origin(ConfigKeys.HEALTH_INTERVAL)
              : origin,
          ConfigKeys.HEALTH_TIMEOUT.name(),
          "must not be longer than health.interval");
    }
    if (config.get(ConfigKeys.OIDC_ISSUER).isPresent()) {
      ValueOrigin issuer = config.origin(ConfigKeys.OIDC_ISSUER);
      if (config.get(ConfigKeys.OIDC_CLIENT_ID).isEmpty()) {
        layers.reject(issuer, ConfigKeys.OIDC_CLIENT_ID.name(), "is missing with oidc.issuer");
      }
      if (config.get(ConfigKeys.OIDC_KEYS).isEmpty()) {
        layers.reject(issuer, ConfigKeys.OIDC_KEYS.name(), "is missing with oidc.issuer");
      }
    }
  }

  private static List<String> warnings(Config config, ConfigInput sources) {
    List<String> warnings = new ArrayList<>();
    if (config.get(ConfigKeys.ALLOW_PROCESS) && config.get(ConfigKeys.FLOOR) != Isolation.PROCESS) {
      warnings.add("allow_process has no effect unless floor is process");
    }
    String provider = config.get(ConfigKeys.PROVIDER);
    if (!provider.equals(ProviderNames.AUTO)
        && !sources.providers().contains(provider)
        && !config.providers().containsKey(provider)) {
      warnings.add(
          "provider is " + ProviderNames.displayName(provider) + ", which is not installed");
    }
    return warnings;
  }
}
