package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ConfigSources;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigProblem;
import dev.isola.engine.config.ConfigResult;
import dev.isola.engine.config.ValueOrigin;
import dev.isola.spi.error.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola config}. */
@Command(name = "config", description = "Print the configuration: every value and its origin.")
public final class ConfigCommand implements CliCommand {
  private static final int INVALID = 1;

  private final CommandContext context;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Configuration file. Default: $$ISOLA_CONFIG; otherwise /etc/isola/isola.yaml for root,"
              + " and $$XDG_CONFIG_HOME/isola/isola.yaml or ~/.config/isola/isola.yaml for other"
              + " users.")
  private @Nullable String file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Override a configuration value. Repeatable.")
  private List<String> values = new ArrayList<>();

  public ConfigCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    ConfigSources sources = context.configSources(file, values);
    return switch (sources.read()) {
      case ConfigResult.Valid(Config config) -> show(console, sources.file(), config);
      case ConfigResult.Invalid(List<ConfigProblem> problems) -> refuse(console, problems);
    };
  }

  private static int show(Console console, Optional<Path> file, Config config) {
    if (console.json()) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("file", file.map(Path::toString));
      json.put("values", config.entries().stream().map(ConfigCommand::json).toList());
      json.put("warnings", config.warnings());
      console.print(json);
      return ExitCodes.OK;
    }
    Table table = new Table().row("KEY", "VALUE", "FROM");
    for (Config.Entry entry : config.entries()) {
      String from = entry.origin().description();
      table.row(
          entry.key(),
          entry.value(),
          entry.origin() instanceof ValueOrigin.Default ? console.styled(Style.DIM, from) : from);
    }
    console.print(table.text());
    config.warnings().forEach(console::printErr);
    return ExitCodes.OK;
  }

  private static int refuse(Console console, List<ConfigProblem> problems) {
    if (console.json()) {
      Map<String, Object> error = new LinkedHashMap<>();
      error.put("code", ErrorCode.INVALID_REQUEST.name());
      error.put("category", ErrorCode.INVALID_REQUEST.category().name());
      error.put("message", "the configuration is invalid");
      error.put("remedy", "correct the listed values; docs/config.md documents every key");
      error.put("problems", problems.stream().map(ConfigCommand::json).toList());
      console.print(Map.of("error", error));
    } else {
      problems.forEach(problem -> console.printErr(problem.toString()));
      console.printErr(
          (problems.size() == 1 ? "1 error" : problems.size() + " errors")
              + " in the configuration; docs/config.md documents every key");
    }
    return INVALID;
  }

  private static Map<String, ?> json(Config.Entry entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("key", entry.key());
    json.put("value", entry.value());
    json.put("from", json(entry.origin()));
    return json;
  }

  private static Map<String, ?> json(ConfigProblem problem) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("key", problem.key());
    json.put("problem", problem.problem());
    json.put("from", json(problem.origin()));
    return json;
  }

  private static Map<String, ?> json(ValueOrigin origin) {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (origin) {
      case ValueOrigin.Default() -> json.put("kind", "default");
      case ValueOrigin.File(Path path, int line) -> {
        json.put("kind", "file");
        json.put("name", path.toString());
        json.put("line", line);
      }
      case ValueOrigin.Environment(String variable) -> {
        json.put("kind", "environment");
        json.put("name", variable);
      }
      case ValueOrigin.Flag(String flag) -> {
        json.put("kind", "flag");
        json.put("name", flag);
      }
    }
    return json;
  }
}
