package dev.isola.app.operate;

import dev.isola.app.cli.Action;
import dev.isola.app.cli.ConfigSources;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Paint;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.Wiring;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigResult;
import dev.isola.engine.config.Origin;
import dev.isola.engine.config.Problem;
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

/** {@code isola config}. */
@Command(
    name = "config",
    description = "Show the configuration: every value, and where it came from.")
public final class ConfigCommand implements Action {
  private static final int INVALID = 1;

  private final Wiring wiring;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The file. Default: $$ISOLA_CONFIG, for root /etc/isola/isola.yaml, else"
              + " $$XDG_CONFIG_HOME/isola/isola.yaml or ~/.config/isola/isola.yaml, if it exists.")
  private @Nullable String file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "A value over the file and the environment; repeatable.")
  private List<String> values = new ArrayList<>();

  public ConfigCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    ConfigSources sources = wiring.configSources(file, values);
    return switch (sources.read()) {
      case ConfigResult.Good(Config config) -> show(console, sources.file(), config);
      case ConfigResult.Bad(List<Problem> problems) -> refuse(console, problems);
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
      String from = entry.origin().words();
      table.row(
          entry.key(),
          entry.value(),
          entry.origin() instanceof Origin.Default ? console.paint(Paint.DIM, from) : from);
    }
    console.print(table.text());
    config.warnings().forEach(console::remark);
    return ExitCodes.OK;
  }

  private static int refuse(Console console, List<Problem> problems) {
    if (console.json()) {
      Map<String, Object> error = new LinkedHashMap<>();
      error.put("code", ErrorCode.INVALID_REQUEST.name());
      error.put("category", ErrorCode.INVALID_REQUEST.category().name());
      error.put("message", "the configuration is invalid");
      error.put("remedy", "correct what is named; docs/config.md has every key");
      error.put("problems", problems.stream().map(ConfigCommand::json).toList());
      console.print(Map.of("error", error));
    } else {
      problems.forEach(problem -> console.remark(problem.toString()));
      console.remark(
          (problems.size() == 1 ? "1 error" : problems.size() + " errors")
              + " in the configuration; docs/config.md has every key");
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

  private static Map<String, ?> json(Problem problem) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("key", problem.key());
    json.put("problem", problem.problem());
    json.put("from", json(problem.origin()));
    return json;
  }

  private static Map<String, ?> json(Origin origin) {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (origin) {
      case Origin.Default() -> json.put("kind", "default");
      case Origin.File(Path path, int line) -> {
        json.put("kind", "file");
        json.put("name", path.toString());
        json.put("line", line);
      }
      case Origin.Environment(String variable) -> {
        json.put("kind", "environment");
        json.put("name", variable);
      }
      case Origin.Flag(String flag) -> {
        json.put("kind", "flag");
        json.put("name", flag);
      }
    }
    return json;
  }
}
