package dev.isola.app.cli;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Creates the objects that commands share, once the global options are parsed. */
public final class CommandContext {
  private final CliEnvironment environment;
  private final GlobalOptions globals;

  public CommandContext(CliEnvironment environment, GlobalOptions globals) {
    this.environment = environment;
    this.globals = globals;
  }

  public CliEnvironment environment() {
    return environment;
  }

  public Console console() {
    return new Console(environment, globals.json, globals.verbose, globals.color, globals.wide);
  }

  /** Returns the console for standard error, where the server's log goes. */
  public Console errConsole() {
    return Console.forStderr(environment, globals.color);
  }

  public DataFolder dataFolder() {
    return DataFolder.resolve(globals.data, environment.variables());
  }

  public ConfigSources configSources(@Nullable String file, List<String> values) {
    return ConfigSources.of(file, values, globals.data, environment);
  }

  /** Returns the providers with their settings, in the configured data folder. */
  public Providers providers(Config config) {
    return new Providers(
        environment.factories(),
        config.providers(),
        new DataFolder(config.get(ConfigKeys.DATA)),
        InstantSource.system());
  }

  /** Returns the providers with their settings, in another data folder. */
  public Providers providers(Config config, DataFolder data) {
    return new Providers(environment.factories(), config.providers(), data, InstantSource.system());
  }

  public Providers providers() {
    return new Providers(environment.factories(), dataFolder(), InstantSource.system());
  }
}
