package dev.isola.app;

import dev.isola.spi.Provider;
import dev.isola.spi.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;

/** Makes the sandbox, runs the command in it and leaves nothing, however it ends. */
final class SandboxRun {
  private final Host host;
  private final Provider provider;
  private final SandboxSpec spec;
  private final Conduct conduct;

  SandboxRun(Host host, Provider provider, SandboxSpec spec, Conduct conduct) {
    this.host = host;
    this.provider = provider;
    this.spec = spec;
    this.conduct = conduct;
  }

  int run(Command command) {
    // Before create: Ctrl-C may come while the sandbox is being made.
    try (SandboxEnd end = SandboxEnd.watch(host, provider, spec.id())) {
      try {
        Sandbox sandbox = provider.create(spec);
        return conduct.run(sandbox, command);
      } catch (SandboxException e) {
        if (end.interrupted()) {
          return ExitCodes.INTERRUPTED; // the sandbox was pulled away under the command: by us
        }
        throw explained(e, command);
      }
    }
  }

  /** Says in the words of the command line what the sandbox says of a command it cannot start. */
  private static SandboxException explained(SandboxException e, Command command) {
    String program = command.program();
    return switch (e.code()) {
      case COMMAND_NOT_FOUND ->
          said(
              e,
              "command not found in the sandbox: " + program,
              program.indexOf(' ') > 0
                  ? "there is no shell: give words one by one, or use sh -c '" + program + "'"
                  : "check its name and the sandbox's PATH");
      case COMMAND_NOT_EXECUTABLE ->
          said(e, "not executable: " + program, "chmod +x it, or name its interpreter");
      case FILE_NOT_FOUND, NOT_A_FOLDER ->
          command.cwd().isEmpty()
              ? e
              : said(
                  e,
                  "--workdir is not a folder in the sandbox: " + command.cwd().get(),
                  "name one that is there");
      default -> e;
    };
  }

  private static SandboxException said(SandboxException e, String what, String remedy) {
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
