package dev.isola.app.operate;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.ProviderFactorySelection;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.conformance.CheckCase;
import dev.isola.conformance.ConformanceMatrix;
import dev.isola.conformance.ProviderResult;
import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola conformance}. */
@Command(
    name = "conformance",
    sortOptions = false,
    description = "Check that providers conform to the provider contract.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all executed checks passed",
      "1:a check failed, or no check could run",
      "2:invalid command line"
    })
public final class ConformanceCommand implements CliCommand {
  private static final int CHECKS_FAILED = 1;
  private static final String BACKEND = "http";
  private static final String KEY_VARIABLE = "ISOLA_BACKEND_KEY";

  private final CommandContext context;

  @Parameters(
      paramLabel = "PROVIDER",
      arity = "0..*",
      description = "Providers to check. Default: all healthy ones.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--only",
      paramLabel = "CLASS",
      split = ",",
      description = "Run only the checks of this class. Repeatable. See --list.")
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "SETTING=VALUE",
      description = "Set a setting of the provider; requires exactly one PROVIDER. Repeatable.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "Check the backend at this address, by the provider http.")
  private @Nullable String url;

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description = "The key of that backend. Default: the variable ISOLA_BACKEND_KEY.")
  private @Nullable String key;

  @Option(names = "--list", description = "List the checks instead of running them.")
  private boolean list;

  @Option(
      names = "--matrix",
      paramLabel = "FILE",
      description = "Write a Markdown table of checks and providers to this file.")
  private @Nullable String matrix;

  public ConformanceCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    List<CheckCase> checks = checks();
    ProviderFactorySelection choice =
        new ProviderFactorySelection(context.environment().factories());
    addBackend();
    List<ProviderFactory> named = choice.named(names);
    if (list) {
      list(console, checks);
      return ExitCodes.OK;
    }
    if (!settings.isEmpty() && named.size() != 1) {
      throw new UsageException(
          "--set requires exactly one provider, but " + named.size() + " are named",
          "name one provider");
    }
    ConformanceProgress progress =
        new ConformanceProgress(console, context.environment().tty().out());
    ConformanceRun run = new ConformanceRun(checks, progress);
    List<ProviderResult> results = new ArrayList<>();
    for (ProviderFactory factory : names.isEmpty() ? choice.all() : named) {
      try (TemporaryInstallation trial =
          TemporaryInstallation.of(factory, new ProviderConfig(settings))
              .sharing(context.dataFolder().path())) {
        if (!names.isEmpty() || healthy(console, trial)) {
          results.add(run.run(trial));
        }
      }
      if (run.stopped()) {
        break;
      }
    }
    if (console.json()) {
      console.print(ConformanceRun.json(results));
    }
    if (matrix != null) {
      write(Path.of(matrix), ConformanceMatrix.markdown(results));
    }
    return ConformanceRun.passed(results) ? ExitCodes.OK : CHECKS_FAILED;
  }

  /** Makes a backend the provider to check, with nothing configured. */
  private void addBackend() {
    if (url == null) {
      if (key != null) {
        throw new UsageException("--key requires --url", "add --url URL");
      }
      return;
    }
    if (!names.isEmpty() && !names.equals(List.of(BACKEND))) {
      throw new UsageException(
          "--url checks the provider " + BACKEND + " only", "do not name a provider");
    }
    names = List.of(BACKEND);
    settings.put("url", url);
    String secret = key == null ? context.environment().variables().get(KEY_VARIABLE) : key;
    if (secret != null) {
      settings.put("key", secret);
    }
  }

  /** Returns the checks of the selected classes, ignoring case. */
  private List<CheckCase> checks() {
    if (only.isEmpty()) {
      return ConformanceKit.checks();
    }
    Set<String> groups = new LinkedHashSet<>();
    for (String requested : only) {
      groups.add(
          ConformanceKit.groups().stream()
              .filter(requested::equalsIgnoreCase)
              .findFirst()
              .orElseThrow(
                  () ->
                      ProviderFactorySelection.unknown(
                          "class of checks", requested, ConformanceKit.groups())));
    }
    return ConformanceKit.checks().stream()
        .filter(check -> groups.contains(check.group()))
        .toList();
  }

  /** Returns whether the provider is usable. Prints a message if it is skipped. */
  private static boolean healthy(Console console, TemporaryInstallation trial) {
    try (Provider provider = trial.open()) {
      if (trial.run(() -> {}, provider::health) instanceof Health.Unhealthy unhealthy) {
        console.printErr(trial.factory().name() + " is skipped: " + unhealthy.reason());
        return false;
      }
      return true;
    }
  }

  private static void list(Console console, List<CheckCase> checks) {
    if (console.json()) {
      console.print(Map.of("checks", checks.stream().map(ConformanceCommand::json).toList()));
      return;
    }
    Table table = new Table();
    checks.forEach(check -> table.row(check.id(), check.requirement()));
    console.print(table.text());
  }

  private static Map<String, ?> json(CheckCase check) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", check.id());
    json.put("requirement", check.requirement());
    return json;
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UsageException(
          "--matrix " + file + " cannot be written: " + IoErrors.describe(e),
          "use a writable path");
    }
  }
}
