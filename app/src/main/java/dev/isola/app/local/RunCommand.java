package dev.isola.app.local;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.KernelRandom;
import dev.isola.app.cli.ProviderReport;
import dev.isola.app.cli.Providers;
import dev.isola.app.cli.RunOptions;
import dev.isola.app.cli.UnenforcedLimit;
import dev.isola.app.cli.UsageException;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.egress.StandaloneEgress;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/**
 * Implements {@code isola run}: runs one command in a fresh sandbox and destroys the sandbox
 * afterwards.
 */
@CommandLine.Command(
    name = "run",
    sortOptions = false,
    description = "Run one command in a fresh sandbox.",
    customSynopsis = "isola run [OPTION]... [--] CMD [ARG]...",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0-255:exit code of the command",
      "2:invalid command line",
      "124:the command exceeded --timeout",
      "125:Isola could not run the command (options, provider, sandbox)",
      "126:the command is not executable",
      "127:the command was not found",
      "128+N:the command was killed by signal N (137: also out of memory)",
      "130:interrupted (Ctrl-C); 143: terminated"
    })
public final class RunCommand implements CliCommand {
  private final CommandContext context;
  @Mixin private final RunOptions options = new RunOptions();

  public RunCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    Command command = options.command(context.environment().variables());
    SandboxSpec spec = options.spec(SandboxId.random(KernelRandom.open()));
    if (options.tty) {
      requireTerminal(console);
    }
    Config config = context.configSources(options.configFile, options.settings).readOrThrow();
    if (console.verbose()) {
      config.warnings().forEach(console::printErr);
    }
    DataFolder data = new DataFolder(config.get(ConfigKeys.DATA));
    SandboxLeases leases = new SandboxLeases(data.createIfMissing());
    try (Providers providers = context.providers(config)) {
      ProviderChoice choice = choose(providers, config, spec);
      announce(console, choice);
      return new SandboxRun(
              context.environment(),
              leases,
              choice.name(),
              choice.provider(),
              spec,
              runner(console, choice),
              sandbox -> StandaloneEgress.open(config, sandbox, spec, new DenialPrinter(console)))
          .run(command);
    }
  }

  /**
   * Prefers a provider that enforces the requested limits. If there is none, takes another and
   * prints a warning.
   */
  private ProviderChoice choose(Providers providers, Config config, SandboxSpec spec) {
    SelectionPolicy policy = RunPolicy.of(config, options);
    CreateRequest request = request(config, spec);
    Set<LimitKind> limits = options.requestedLimits().keySet();
    if (limits.isEmpty()) {
      return ProviderChoice.of(providers, policy, request);
    }
    Requirements enforced = Requirements.limits(limits.toArray(LimitKind[]::new));
    try {
      return ProviderChoice.of(providers, policy, request.requiring(enforced));
    } catch (SandboxException none) {
      return ProviderChoice.of(providers, policy, request);
    }
  }

  private CreateRequest request(Config config, SandboxSpec spec) {
    String provider = options.provider == null ? config.get(ConfigKeys.PROVIDER) : options.provider;
    CreateRequest request =
        CreateRequest.of(spec, ProviderNames.canonical(provider))
            .requiring(
                new Requirements(
                    options.isolation().orElse(Isolation.PROCESS),
                    options.tty ? Set.of(Terminals.class) : Set.of(),
                    Set.of()));
    return options.region == null ? request : request.inRegion(options.region);
  }

  private CommandRunner runner(Console console, ProviderChoice choice) {
    if (options.tty) {
      return new TerminalRunner(context.environment(), choice.provider());
    }
    return console.json()
        ? new CapturingRunner(context.environment(), console, choice.status().info().orElseThrow())
        : new StreamingRunner(context.environment());
  }

  private void requireTerminal(Console console) {
    if (console.json()) {
      throw new UsageException("--tty and --json cannot be combined", "omit one of them");
    }
    CliEnvironment.TtyStatus tty = context.environment().tty();
    if (!tty.in() || !tty.out()) {
      throw new UsageException(
          "--tty needs a terminal, and " + (tty.in() ? "stdout" : "stdin") + " is not one",
          "run the command in a terminal, or omit --tty");
    }
  }

  private void announce(Console console, ProviderChoice choice) {
    ProviderInfo info = choice.status().info().orElseThrow();
    if (console.verbose()) {
      String isolation = ProviderReport.kebabCase(info.isolation());
      console.printErr("provider " + choice.name() + " (isolation: " + isolation + ")");
    }
    if (choice.status().health() instanceof Health.Degraded(String reason, String fix)) {
      console.printErr("provider " + choice.name() + " is degraded: " + reason + "; " + fix);
    }
    options
        .requestedLimits()
        .forEach(
            (kind, option) -> {
              if (!info.support().enforcedLimits().contains(kind)) {
                console.printErr(
                    UnenforcedLimit.warning(
                        option, choice.name(), ProviderReport.kebabCase(kind), "this machine"));
              }
            });
  }
}
