package dev.isola.app;

import dev.isola.engine.lease.SandboxLeases;
import dev.isola.spi.Isolation;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderInfo;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/** {@code isola run}: one command in a fresh sandbox, which is gone when the command has ended. */
@CommandLine.Command(
    name = "run",
    sortOptions = false,
    description = "Run one command in a fresh sandbox.",
    customSynopsis = "isola run [OPTION]... [--] CMD [ARG]...",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0-255:what the command ended with",
      "2:the command line is wrong",
      "124:the command ran into --timeout",
      "125:Isola could not run it (options, provider, sandbox)",
      "126:the command is not executable",
      "127:the command was not found",
      "128+N:the command was killed by signal N (137 also: out of memory)",
      "130:interrupted (Ctrl-C); 143: terminated"
    })
final class RunCommand implements Action {
  private final Wiring wiring;
  @Mixin private final RunOptions options = new RunOptions();

  RunCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    Command command = options.command();
    SandboxSpec spec = options.spec(SandboxId.random(KernelRandom.open()));
    if (options.tty) {
      refuseWithoutTerminal(console);
    }
    try (Providers providers = wiring.providers()) {
      ProviderChoice choice =
          options.provider == null
              ? ProviderChoice.best(providers)
              : ProviderChoice.named(options.provider, providers);
      Provider provider = choice.provider();
      announce(console, provider);
      SandboxLeases leases = new SandboxLeases(wiring.dataFolder().made());
      return new SandboxRun(
              wiring.host(), leases, choice.name(), provider, spec, conduct(console, provider))
          .run(command);
    }
  }

  private Conduct conduct(Console console, Provider provider) {
    if (options.tty) {
      return new TerminalConduct(wiring.host(), provider);
    }
    return console.json()
        ? new CapturedConduct(wiring.host(), console, provider)
        : new LiveConduct(wiring.host());
  }

  private void refuseWithoutTerminal(Console console) {
    if (console.json()) {
      throw new UsageException("--tty and --json exclude each other", "leave one out");
    }
    Host.Interactive interactive = wiring.host().interactive();
    if (!interactive.in() || !interactive.out()) {
      throw new UsageException(
          "--tty needs a terminal, and " + (interactive.in() ? "stdout" : "stdin") + " is none",
          "run it from a terminal or leave --tty out");
    }
  }

  /** Asks the provider only when there is somebody to tell: the first answer may take a while. */
  private void announce(Console console, Provider provider) {
    boolean heard = wiring.host().interactive().err() && options.provider == null;
    if (!console.verbose() && !heard) {
      return;
    }
    ProviderInfo info = provider.info();
    if (console.verbose()) {
      String isolation = ProviderReport.word(info.isolation());
      console.remark("provider " + info.name() + " (isolation: " + isolation + ")");
    }
    if (options.provider == null && info.isolation() == Isolation.PROCESS) {
      console.remark(
          "no isolation on this machine's providers; the command runs as a plain process"
              + " (see isola doctor)");
    }
  }
}
