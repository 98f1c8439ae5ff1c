package dev.isola.app.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of commands that read the configuration of the server. */
public final class ConfigOptions {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration file of the server; see isola config --help.")
  private @Nullable String file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Override a configuration value. Repeatable.")
  private List<String> values = new ArrayList<>();

  /** Returns the sources of the configuration. */
  public ConfigSources sources(CommandContext context) {
    return sources(context, List.of());
  }

  /**
   * Returns the sources of the configuration.
   *
   * @param more values that other options set, as {@code KEY=VALUE}
   */
  public ConfigSources sources(CommandContext context, List<String> more) {
    List<String> all = new ArrayList<>(values);
    all.addAll(more);
    return context.configSources(file, all);
  }
}
