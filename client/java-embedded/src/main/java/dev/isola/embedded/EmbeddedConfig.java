package dev.isola.embedded;

import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.document.field.Suggestion;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.ConfigResult;
import dev.isola.engine.config.MachineInfo;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderSetting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Configuration of an embedded engine: the defaults of a server, the values that embedded mode
 * fixes, and the caller's settings. No file and no environment variable is read.
 *
 * @param factories of the providers to use
 */
record EmbeddedConfig(Config config, List<ProviderFactory> factories) {
  /** Providers that need no daemon and no account, so that their probes are quick. */
  private static final List<String> DEFAULT_PROVIDERS =
      List.of("bubblewrap", "crun", "runc", "subprocess");

  /** Keys that embedded mode determines: the address is private, and the folder is an option. */
  private static final Set<String> FIXED_KEYS =
      Set.of(
          ConfigKeys.SERVER_HOST.name(),
          ConfigKeys.SERVER_PORT.name(),
          ConfigKeys.SERVER_TLS_CERT.name(),
          ConfigKeys.SERVER_TLS_KEY.name(),
          ConfigKeys.SHUTDOWN.name(),
          ConfigKeys.DATA.name());

  static EmbeddedConfig of(
      EmbeddedOptions options, Path folder, Iterable<ProviderFactory> installed) {
    List<ProviderFactory> factories = choose(options.providers(), installed);
    Map<String, String> values = new LinkedHashMap<>();
    // Allows a request to name subprocess. A request without a name gets it only if the caller
    // named
    // it in the options.
    values.put(ConfigKeys.FLOOR.name(), "process");
    values.put(ConfigKeys.ALLOW_PROCESS.name(), Boolean.toString(!options.providers().isEmpty()));
    values.put(ConfigKeys.SERVER_AUDIT.name(), "false");
    options.settings().forEach((key, value) -> values.put(checked(key), value));
    values.put(ConfigKeys.SERVER_HOST.name(), "127.0.0.1");
    values.put(ConfigKeys.SERVER_PORT.name(), "0");
    values.put(ConfigKeys.SHUTDOWN.name(), "drain");
    values.put(ConfigKeys.DATA.name(), folder.toString());
    Map<String, List<ProviderSetting>> declared = new LinkedHashMap<>();
    factories.forEach(factory -> declared.put(factory.name(), factory.settings()));
    List<ConfigInput.FlagValue> flags = new ArrayList<>();
    values.forEach((key, value) -> flags.add(new ConfigInput.FlagValue(key, key, value)));
    ConfigInput input =
        new ConfigInput(
            MachineInfo.detect(folder),
            Optional.empty(),
            Map.of(),
            flags,
            declared.keySet(),
            declared);
    return switch (ConfigReader.read(input)) {
      case ConfigResult.Valid(Config config) -> new EmbeddedConfig(config, factories);
      case ConfigResult.Invalid(var problems) ->
          throw invalid(
              "the settings of the embedded engine are invalid: "
                  + String.join("; ", problems.stream().map(Object::toString).toList()),
              "correct them; docs/config.md lists the keys");
    };
  }

  private static String checked(String key) {
    if (FIXED_KEYS.contains(key)) {
      throw invalid(
          "the setting " + key + " is determined by embedded mode",
          key.equals(ConfigKeys.DATA.name())
              ? "use EmbeddedOptions.withFolder"
              : "remove it, or start a server with isola serve");
    }
    return key;
  }

  private static List<ProviderFactory> choose(
      List<String> names, Iterable<ProviderFactory> installed) {
    Map<String, ProviderFactory> known = new LinkedHashMap<>();
    installed.forEach(factory -> known.putIfAbsent(factory.name(), factory));
    List<ProviderFactory> chosen = new ArrayList<>();
    for (String name : names.isEmpty() ? DEFAULT_PROVIDERS : names) {
      ProviderFactory factory = known.get(name);
      if (factory != null) {
        chosen.add(factory);
      } else if (!names.isEmpty()) {
        throw invalid(
            "no provider is named '" + name + "'" + Suggestion.hint(name, known.keySet()),
            "use one of " + String.join(", ", known.keySet()));
      }
    }
    return chosen;
  }

  private static SandboxException invalid(String problem, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, problem, remedy).exception();
  }
}
