package dev.isola.app.cli;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.ConfigResult;
import dev.isola.engine.config.MachineInfo;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderSetting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Configuration sources of this process: file, environment and flags. */
public record ConfigSources(Optional<Path> file, ConfigInput sources) {

  /**
   * Collects the sources.
   *
   * @param option value of {@code --config}, or null
   * @param values the {@code KEY=VALUE} arguments of {@code --set}
   * @param data value of {@code --data}, or null; recorded as a flag like the others
   */
  static ConfigSources of(
      @Nullable String option,
      List<String> values,
      @Nullable String data,
      CliEnvironment environment) {
    String user = System.getProperty("user.name");
    Optional<Path> file = file(option, environment.variables(), user);
    List<FlagValue> flags = new ArrayList<>();
    values.forEach(value -> flags.add(flag(value)));
    if (data != null && !data.isEmpty()) {
      flags.add(new FlagValue("--data", "data", data));
    }
    Map<String, List<ProviderSetting>> installed = new LinkedHashMap<>();
    for (ProviderFactory factory : environment.factories()) {
      installed.put(factory.name(), factory.settings());
    }
    // ISOLA_DATA is left out here so that the configuration reports it as the origin of the
    // value.
    Map<String, String> env = new HashMap<>(environment.variables());
    env.remove("ISOLA_DATA");
    MachineInfo machine = MachineInfo.detect(DataFolder.path(null, env, user));
    return new ConfigSources(
        file,
        new ConfigInput(
            machine, file, environment.variables(), flags, installed.keySet(), installed));
  }

  /** Returns these sources with a value that takes precedence over all others. */
  public ConfigSources with(String key, String value) {
    List<FlagValue> flags = new ArrayList<>(sources.flags());
    flags.removeIf(flag -> flag.key().equals(key));
    flags.add(new FlagValue("--set " + key, key, value));
    return new ConfigSources(
        file,
        new ConfigInput(
            sources.machine(),
            sources.file(),
            sources.environment(),
            flags,
            sources.providers(),
            sources.settings()));
  }

  public ConfigResult read() {
    return ConfigReader.read(sources);
  }

  /**
   * Reads the configuration.
   *
   * @throws dev.isola.spi.error.InvalidRequest listing every error in it
   */
  public Config readOrThrow() {
    return switch (read()) {
      case ConfigResult.Valid(Config config) -> config;
      case ConfigResult.Invalid(var problems) ->
          throw Fault.of(
                  ErrorCode.INVALID_REQUEST,
                  "the configuration is invalid: "
                      + String.join("; ", problems.stream().map(Object::toString).toList()),
                  "correct it; isola config shows all values")
              .exception();
    };
  }

  private static FlagValue flag(String value) {
    int equals = value.indexOf('=');
    if (equals < 1) {
      throw new UsageException("--set is '" + value + "'", "use KEY=VALUE, such as --set floor=vm");
    }
    String key = value.substring(0, equals);
    return new FlagValue("--set " + key, key, value.substring(equals + 1));
  }

  /**
   * Returns the configuration file. A file that is named explicitly must exist; the default one is
   * optional.
   */
  public static Optional<Path> file(@Nullable String option, Map<String, String> env, String user) {
    if (option != null && !option.isEmpty()) {
      return Optional.of(Path.of(option));
    }
    String chosen = env.getOrDefault("ISOLA_CONFIG", "");
    if (!chosen.isEmpty()) {
      return Optional.of(Path.of(chosen));
    }
    return Optional.of(defaultFile(env, user)).filter(Files::exists);
  }

  public static Path defaultFile(Map<String, String> env, String user) {
    if (user.equals("root")) {
      return Path.of("/etc/isola/isola.yaml");
    }
    String config = env.getOrDefault("XDG_CONFIG_HOME", "");
    return config.startsWith("/")
        ? Path.of(config, "isola", "isola.yaml")
        : Path.of(home(env), ".config", "isola", "isola.yaml");
  }

  private static String home(Map<String, String> env) {
    return env.getOrDefault("HOME", System.getProperty("user.home"));
  }
}
