package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola shell}. */
@Command(
    name = "shell",
    sortOptions = false,
    customSynopsis = "isola shell [OPTION]... ID [[--] CMD [ARG]...]",
    description = {
      "Open a shell in a sandbox: bash, or sh if bash is not installed.",
      "Enter ~. or Ctrl-P Ctrl-Q detaches and keeps it running; --attach reattaches."
    })
public final class ShellCommand extends RemoteCommand {
  private static final dev.isola.client.Command SHELL =
      dev.isola.client.Command.argv(
          "/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash; else exec sh; fi");

  @Option(
      names = {"-a", "--attach"},
      paramLabel = "EXEC",
      description = "Reattach to a running terminal; isola logs ID lists executions.")
  private @Nullable String attach;

  @Option(
      names = {"-u", "--user"},
      paramLabel = "USER",
      description = "Run as this user.")
  private @Nullable String user;

  @Option(
      names = {"-w", "--workdir"},
      paramLabel = "DIR",
      description = "Working folder. Default: the sandbox's.")
  private @Nullable String workdir;

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1..*",
      paramLabel = "CMD",
      arity = "0..*",
      description = "Command to run instead of a shell, passed literally.")
  private List<String> arguments = new ArrayList<>();

  public ShellCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    if (console.json()) {
      throw new UsageException(
          "a terminal cannot be printed as JSON", "omit --json, or use isola exec");
    }
    Sandbox sandbox = sandbox(isola, id);
    List<String> commandArguments = commandArguments();
    if (attach == null) {
      return RemoteTerminal.start(context.environment(), sandbox, command(commandArguments));
    }
    if (!commandArguments.isEmpty() || user != null || workdir != null) {
      throw new UsageException(
          "--attach cannot be combined with a command, --user or --workdir",
          "omit them; the command is already running");
    }
    return RemoteTerminal.attach(context.environment(), sandbox, attach);
  }

  /**
   * Returns the arguments after the id. Options are literal there, except for {@code --attach},
   * which users commonly write last.
   */
  private List<String> commandArguments() {
    if (arguments.size() == 2
        && (arguments.getFirst().equals("--attach") || arguments.getFirst().equals("-a"))) {
      attach = arguments.getLast();
      return List.of();
    }
    return !arguments.isEmpty() && arguments.getFirst().equals("--")
        ? arguments.subList(1, arguments.size())
        : arguments;
  }

  private dev.isola.client.Command command(List<String> commandArguments) {
    dev.isola.client.Command command =
        commandArguments.isEmpty() ? SHELL : dev.isola.client.Command.argv(commandArguments);
    if (user != null) {
      command = command.withUser(user);
    }
    return workdir == null ? command : command.withCwd(workdir);
  }
}
