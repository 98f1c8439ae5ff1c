package dev.isola.provider.e2b.exec;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Starts commands, and reports why a command could not be started. */
public final class CommandStarter {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** How much later than this server envd kills a command, in case the server is gone. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  /**
   * The maximum amount of output, including overhead, that is buffered until the command is known
   * to run.
   */
  private static final long MAX_BUFFERED = 16 << 20;

  private static final int OVERHEAD = 64;

  private final SandboxContext context;
  private final ScriptRunner shell;

  public CommandStarter(SandboxContext context) {
    this.context = context;
    this.shell = new ScriptRunner(context);
  }

  public Execution start(Command command) {
    return start(command, Optional.empty());
  }

  public Terminal open(Command command, TerminalSize size) {
    return (Terminal) start(command, Optional.of(size));
  }

  private Execution start(Command command, Optional<TerminalSize> terminal) {
    byte[] random = new byte[16];
    RANDOM.nextBytes(random);
    String mark = HexFormat.of().formatHex(random);
    Optional<String> user = command.user().or(context::user);
    ExecutionUser executionUser =
        ExecutionUser.of(user).orElseThrow(() -> unknownUser(context, user.orElse("")));
    Optional<Duration> timeout = command.timeout().or(context::timeout);
    String folder = command.cwd().map(context::absolute).orElse(context.folder());
    List<String> args = new ArrayList<>(List.of(mark, folder));
    args.addAll(command.toArgv());
    ProcessStream.Start start =
        new ProcessStream.Start(
            executionUser.commandLine(ExecScripts.START, args),
            environment(command, mark, terminal.isPresent()),
            command.stdin(),
            terminal,
            command.tag(),
            timeout.map(time -> time.plus(GRACE)));
    ProcessStream stream;
    try {
      stream = ProcessStream.start(context.envd(), start, executionUser.name());
    } catch (RpcError e) {
      throw refused(context, e, user);
    }
    try {
      return awaitRunning(stream, new PendingStart(mark, command, folder, user), terminal, timeout);
    } catch (RuntimeException e) {
      stream.close();
      throw e;
    }
  }

  private static Map<String, String> environment(Command command, String mark, boolean terminal) {
    Map<String, String> env = new LinkedHashMap<>();
    if (terminal) {
      env.put("TERM", "xterm-256color");
    }
    env.putAll(command.env());
    env.put(ExecScripts.MARK, mark);
    return env;
  }

  private record PendingStart(String mark, Command command, String folder, Optional<String> user) {}

  /** Reads until the script reports that the command runs; all further output is the command's. */
  private Execution awaitRunning(
      ProcessStream stream,
      PendingStart pending,
      Optional<TerminalSize> terminal,
      Optional<Duration> timeout) {
    Channel channel = terminal.isPresent() ? Channel.TERMINAL : Channel.STDERR;
    byte[] mark = pending.mark().getBytes(US_ASCII);
    ByteArrayOutputStream result = new ByteArrayOutputStream();
    List<ProcessStream.Event.Data> first = new ArrayList<>();
    long before = 0;
    long pid = 0;
    while (result.size() <= mark.length) {
      switch (event(stream, pending.user())) {
        case ProcessStream.Event.Started(long number) -> pid = number;
        case ProcessStream.Event.Ended ended ->
            throw context
                .fault(
                    ErrorCode.SPAWN_FAILED,
                    "the command could not be started: " + result.toString(UTF_8).strip(),
                    "use a template with /bin/sh, and with setpriv for numeric users")
                .exception();
        case ProcessStream.Event.Data(Channel from, Bytes bytes) -> {
          if (from == channel) {
            bytes.copyTo(0, result, bytes.size());
          } else { // The order of stdout and stderr is not preserved.
            first.add(new ProcessStream.Event.Data(from, bytes));
            before += bytes.size() + OVERHEAD;
            if (before > MAX_BUFFERED) {
              throw context
                  .fault(
                      ErrorCode.SPAWN_FAILED, "the start of the command was not confirmed", "retry")
                  .exception();
            }
          }
        }
      }
    }
    byte[] all = result.toByteArray();
    if (!Arrays.equals(mark, Arrays.copyOf(all, mark.length))) {
      throw context
          .fault(
              ErrorCode.SPAWN_FAILED,
              "the command could not be started: " + result.toString(UTF_8).strip(),
              "use a template with a shell at /bin/sh")
          .exception();
    }
    refuse(pending, (char) all[mark.length]);
    E2bExecution.Start start =
        new E2bExecution.Start(
            new ExecutionId(pending.mark()),
            pid,
            pending.user(),
            timeout,
            pending.command().stdin(),
            terminal.isPresent());
    if (all.length > mark.length + 1) {
      byte[] rest = Arrays.copyOfRange(all, mark.length + 1, all.length);
      first.add(new ProcessStream.Event.Data(channel, Bytes.wrap(rest)));
    }
    return terminal.isPresent()
        ? new E2bTerminal(context, shell, stream, start, first)
        : new E2bExecution(context, shell, stream, start, first);
  }

  private ProcessStream.Event event(ProcessStream stream, Optional<String> user) {
    try {
      return stream.next();
    } catch (RpcError e) {
      throw refused(context, e, user);
    } catch (IOException e) {
      throw disconnected(context, e);
    }
  }

  private void refuse(PendingStart pending, char word) {
    String program = pending.command().toArgv().getFirst();
    switch (word) {
      case ExecScripts.RUNS -> {}
      case ExecScripts.NO_FOLDER ->
          throw context
              .fault(
                  ErrorCode.INVALID_REQUEST,
                  "the working folder " + pending.folder() + " does not exist",
                  "create it, or use another")
              .with("cwd", pending.folder())
              .exception();
      case ExecScripts.NOT_FOUND ->
          throw context
              .fault(
                  ErrorCode.COMMAND_NOT_FOUND,
                  "command not found: " + program,
                  "install it, or use its path")
              .exception();
      default ->
          throw context
              .fault(
                  ErrorCode.COMMAND_NOT_EXECUTABLE,
                  program + " is not executable",
                  "make it executable (chmod +x)")
              .exception();
    }
  }

  static SandboxException unknownUser(SandboxContext context, String user) {
    return context
        .fault(
            ErrorCode.USER_NOT_FOUND,
            "no such user: '" + user + "' in the sandbox",
            "use a user from /etc/passwd")
        .exception();
  }

  /** Returns the exception for an error response to a start. */
  static SandboxException refused(SandboxContext context, RpcError e, Optional<String> user) {
    return switch (e.code()) {
      case "unauthenticated" -> unknownUser(context, user.orElse(""));
      case "invalid_argument" ->
          context.fault(ErrorCode.INVALID_REQUEST, e.detail(), "correct the command").exception(e);
      case "unimplemented" ->
          context
              .fault(ErrorCode.NOT_IMPLEMENTED, e.detail(), "use a supported feature")
              .exception(e);
      case "resource_exhausted" ->
          context.fault(ErrorCode.RESOURCE_LIMIT, e.detail(), "end other commands").exception(e);
      case "deadline_exceeded" ->
          context.fault(ErrorCode.DEADLINE_EXCEEDED, e.detail(), "retry").exception(e);
      default ->
          context
              .liveness()
              .notRunningReason()
              .orElseGet(
                  () -> context.fault(ErrorCode.SPAWN_FAILED, e.detail(), "retry").exception(e));
    };
  }

  /** Returns the exception for a stream that ended unexpectedly. */
  static SandboxException disconnected(SandboxContext context, IOException e) {
    return context
        .liveness()
        .notRunningReason()
        .orElseGet(
            () ->
                context
                    .fault(
                        ErrorCode.OUTCOME_UNKNOWN,
                        "the connection to the sandbox was lost: " + e.getMessage(),
                        "check whether the command still runs before starting it again")
                    .exception(e));
  }
}
