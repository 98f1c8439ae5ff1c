package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.StdinPump;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Command;
import dev.isola.client.ExecResult;
import dev.isola.client.Execution;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.codec.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola exec}. */
@CommandLine.Command(
    name = "exec",
    sortOptions = false,
    description = "Run a command in a sandbox on a server.",
    customSynopsis = "isola exec [OPTION]... ID [--] CMD [ARG]...",
    footer = "%nExit codes are those of isola run.")
public final class ExecCommand extends RemoteCommand {
  private static final int MAX_STDIN = 1 << 20;

  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME=VALUE",
      description = "Set an environment variable. Repeatable.")
  private List<String> env = new ArrayList<>();

  @Option(
      names = {"-w", "--workdir"},
      paramLabel = "DIR",
      description = "Working folder of the command. Default: the sandbox's.")
  private @Nullable String workdir;

  @Option(
      names = {"-u", "--user"},
      paramLabel = "USER",
      description = "Run as this user.")
  private @Nullable String user;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "Kill the command after this time: 30s, 5m, 1h30m, 500ms.")
  private @Nullable String timeout;

  @Option(
      names = {"-t", "--tty"},
      description = "Allocate a terminal; stdin and stdout must be terminals.")
  private boolean tty;

  @Option(
      names = "--shell",
      description = "Run CMD with /bin/sh -c; further arguments are quoted and appended to it.")
  private boolean shell;

  @Option(
      names = {"-d", "--detach"},
      description =
          "Start in the background and print the execution id; isola logs prints the output.")
  private boolean detach;

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1..*",
      paramLabel = "CMD",
      arity = "0..*",
      description = "Command and arguments, passed literally unless --shell is given.")
  private List<String> arguments = new ArrayList<>();

  public ExecCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Command command = command();
    Sandbox sandbox = sandbox(isola, id);
    if (tty) {
      if (detach || console.json()) {
        throw new UsageException(
            "--tty cannot be combined with --detach or --json", "omit one of them");
      }
      return RemoteTerminal.start(context.environment(), sandbox, command);
    }
    if (detach) {
      Execution started = sandbox.start(command);
      if (console.json()) {
        console.print(Json.object("sandbox", sandbox.id(), "execution", started.id()));
      } else {
        console.print(started.id() + "\n");
      }
      return ExitCodes.OK;
    }
    return console.json() ? captured(sandbox, command, console) : live(sandbox, command);
  }

  private Command command() {
    List<String> literal =
        !arguments.isEmpty() && arguments.getFirst().equals("--")
            ? arguments.subList(1, arguments.size())
            : arguments;
    if (literal.isEmpty()) {
      throw new UsageException(
          "isola exec needs a sandbox and a command, and only '" + id + "' was given",
          "use isola exec ID -- ls; isola ls lists the sandboxes, and isola run -- ls needs none");
    }
    Command words =
        shell
            ? Command.shell(
                literal.getFirst(), literal.subList(1, literal.size()).toArray(String[]::new))
            : Command.argv(literal);
    Command command = words.withEnv(Arguments.variables("--env", env));
    if (workdir != null) {
      command = command.withCwd(workdir);
    }
    if (user != null) {
      command = command.withUser(user);
    }
    return timeout == null
        ? command
        : command.withTimeout(Arguments.duration("--timeout", timeout));
  }

  private int live(Sandbox sandbox, Command command) {
    CliEnvironment environment = context.environment();
    boolean piped = !environment.tty().in();
    try (Execution execution = sandbox.start(command, piped);
        var _ = KillOnShutdown.register(execution)) {
      if (piped) {
        StdinPump.start(environment.in(), execution.stdin());
      }
      try {
        RemoteOutput.copy(environment, execution, Long.MAX_VALUE);
      } catch (IOException closed) {
        execution.kill();
        return ExitCodes.OUTPUT_CLOSED;
      } catch (ProviderUnavailable e) {
        throw RemoteFault.of(
            e,
            "the command is still running; follow it with isola logs -f "
                + id
                + " "
                + execution.id());
      }
      return RemoteOutput.reportExit(environment, execution.await());
    }
  }

  private int captured(Sandbox sandbox, Command command, Console console) {
    ExecResult result =
        context.environment().tty().in() ? sandbox.exec(command) : sandbox.exec(command, stdin());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandbox", sandbox.id());
    json.put("exitCode", result.exitCode());
    json.put("exit", result.exit().document());
    json.put("stdout", result.stdout());
    json.put("stderr", result.stderr());
    json.put("stdoutBytes", result.stdoutBytes());
    json.put("stderrBytes", result.stderrBytes());
    json.put("truncated", result.truncated());
    json.put("durationMs", result.duration().toMillis());
    json.put("timedOut", result.timedOut());
    console.print(json);
    return result.exitCode();
  }

  private String stdin() {
    try {
      byte[] bytes = context.environment().in().readNBytes(MAX_STDIN + 1);
      if (bytes.length > MAX_STDIN) {
        throw new UsageException(
            "with --json, stdin is limited to 1 MiB", "omit --json, or use isola cp");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }
}
