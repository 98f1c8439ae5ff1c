package dev.isola.app.local;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ExitCodes;
import dev.isola.engine.lease.SandboxLease;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Optional;
import java.util.function.Function;

/**
 * Creates a sandbox, runs the command in it and destroys the sandbox in every case. Holds the
 * sandbox's lease, so that a server on the same data folder does not touch it.
 */
final class SandboxRun {
  private final CliEnvironment environment;
  private final SandboxLeases leases;
  private final String name;
  private final Provider provider;
  private final SandboxSpec spec;
  private final CommandRunner runner;
  private final Function<Sandbox, Optional<EgressAccess.Relay>> connect;

  /**
   * @param name of the provider
   * @param connect carries the connections of a sandbox in network mode {@code filtered}
   */
  SandboxRun(
      CliEnvironment environment,
      SandboxLeases leases,
      String name,
      Provider provider,
      SandboxSpec spec,
      CommandRunner runner,
      Function<Sandbox, Optional<EgressAccess.Relay>> connect) {
    this.environment = environment;
    this.leases = leases;
    this.name = name;
    this.provider = provider;
    this.spec = spec;
    this.runner = runner;
    this.connect = connect;
  }

  int run(Command command) {
    SandboxLease lease = leases.acquire(spec.id(), name);
    // Registered before create, because Ctrl-C may arrive while the sandbox is being created.
    try (SandboxCleanup cleanup = SandboxCleanup.register(environment, provider, lease)) {
      try {
        Sandbox sandbox = provider.create(spec);
        return spec.network().isFiltered()
            ? runConnected(sandbox, command)
            : runner.run(sandbox, command);
      } catch (SandboxException e) {
        if (cleanup.interrupted()) {
          return ExitCodes.INTERRUPTED; // the shutdown hook destroyed the sandbox under the command
        }
        throw translated(e, command);
      }
    } finally {
      leases.recover(this::remove);
    }
  }

  private int runConnected(Sandbox sandbox, Command command) {
    Optional<EgressAccess.Relay> relay = connect.apply(sandbox);
    try {
      return runner.run(sandbox, command);
    } finally {
      relay.ifPresent(EgressAccess.Relay::close);
    }
  }

  /** Removes a sandbox that a killed run left behind, if it used the same provider. */
  private boolean remove(SandboxLeases.LapsedLease lapsed) {
    if (!lapsed.provider().equals(name)) {
      return false;
    }
    try {
      provider.destroy(lapsed.id(), DestroyOptions.FORCE);
      return true;
    } catch (SandboxException e) {
      return false; // the next run retries
    }
  }

  /** Rewrites an error about a command that cannot be started in terms of the command line. */
  private static SandboxException translated(SandboxException e, Command command) {
    String program = command.program();
    return switch (e.code()) {
      case COMMAND_NOT_FOUND ->
          rewritten(
              e,
              "command not found in the sandbox: " + program,
              program.indexOf(' ') > 0
                  ? "commands run without a shell: pass arguments separately, or use sh -c '"
                      + program
                      + "'"
                  : "check the name and the PATH of the sandbox");
      case COMMAND_NOT_EXECUTABLE ->
          rewritten(
              e,
              "not executable: " + program,
              "make it executable with chmod +x, or run it with its interpreter");
      case FILE_NOT_FOUND, NOT_A_FOLDER ->
          command.cwd().isEmpty()
              ? e
              : rewritten(
                  e,
                  "--workdir is not a folder in the sandbox: " + command.cwd().get(),
                  "use a folder that exists in the sandbox");
      default -> e;
    };
  }

  private static SandboxException rewritten(SandboxException e, String what, String remedy) {
    ErrorCode code = e.code();
    Fault fault = Fault.of(code, what, remedy);
    for (var entry : e.context().entrySet()) {
      fault = fault.with(entry.getKey(), entry.getValue());
    }
    return e.sandbox().isPresent()
        ? fault.sandbox(e.sandbox().get()).exception(e)
        : fault.exception(e);
  }
}
