package dev.isola.app.microvmctl;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.KillOnShutdown;
import dev.isola.app.remote.RemoteOutput;
import dev.isola.client.Command;
import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Implements {@code microvmctl exec}: the standard streams and the exit code are those of the
 * command. If this process ends first, so does the command.
 */
@CommandLine.Command(
    name = "exec",
    description = "Run a command with the standard streams of this process.",
    customSynopsis = "isola microvmctl exec --id=ID [--timeout-ms=MS] -- CMD [ARG]...")
final class ExecVerb extends SandboxVerb {
  @Option(
      names = "--timeout-ms",
      paramLabel = "MS",
      description = "Kill the command after this time; the exit code is then 124.")
  private @Nullable Long timeout;

  @Parameters(
      paramLabel = "CMD",
      arity = "0..*",
      description = "Command and arguments, passed literally without a shell.")
  private List<String> words = new ArrayList<>();

  ExecVerb(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola) {
    Command command = command();
    CliEnvironment environment = context.environment();
    boolean piped = !environment.tty().in();
    try (Execution execution = sandbox(isola).start(command, piped);
        var _ = KillOnShutdown.register(execution)) {
      if (piped) {
        Thread.ofPlatform()
            .daemon()
            .name("isola-stdin")
            .start(() -> send(execution, environment.in()));
      }
      try {
        RemoteOutput.copy(environment, execution, Long.MAX_VALUE);
      } catch (IOException closed) {
        execution.kill();
        return ExitCodes.OUTPUT_CLOSED;
      }
      return code(execution.await());
    }
  }

  /** In one request: input may come in many small pieces, and each would cost a round trip. */
  private static void send(Execution execution, InputStream stdin) {
    try {
      execution.send(stdin);
    } catch (IsolaException e) {
      // The command has ended or closed its standard input.
    }
  }

  private Command command() {
    List<String> literal =
        !words.isEmpty() && words.getFirst().equals("--") ? words.subList(1, words.size()) : words;
    if (literal.isEmpty()) {
      throw new UsageException("exec needs a command", "add -- and the command");
    }
    if (timeout == null) {
      return Command.argv(literal);
    }
    if (timeout < 1) {
      throw new UsageException(
          "--timeout-ms " + timeout + " is out of range", "use a number of milliseconds above 0");
    }
    return Command.argv(literal).withTimeout(Duration.ofMillis(timeout));
  }

  private int code(Exit exit) {
    return switch (exit) {
      case Exit.TimedOut(Duration after) ->
          throw Fault.of(
                  ErrorCode.EXEC_TIMEOUT,
                  "the command was killed after " + after.toMillis() + " ms",
                  "increase --timeout-ms")
              .exception();
      case Exit.Lost(String why) ->
          throw Fault.of(
                  ErrorCode.OUTCOME_UNKNOWN,
                  "the sandbox was lost while the command ran: " + why,
                  "create another one")
              .exception();
      case Exit.Exited _, Exit.Signaled _, Exit.OutOfMemory _ -> exit.shellCode();
    };
  }
}
