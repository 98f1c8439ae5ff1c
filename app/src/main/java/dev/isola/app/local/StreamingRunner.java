package dev.isola.app.local;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.StdinPump;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Set;

/** Passes stdin, stdout, stderr and the exit code through unchanged and unbuffered. */
final class StreamingRunner implements CommandRunner {
  private final CliEnvironment environment;

  StreamingRunner(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public int run(Sandbox sandbox, Command command) {
    try (Execution execution = sandbox.start(command.withStdin())) {
      StdinPump.start(environment.in(), execution);
      if (!copyOutput(environment, execution)) {
        return ExitCodes.OUTPUT_CLOSED;
      }
      Exit exit = execution.await();
      reportLimits(environment, exit, execution.limitsMet());
      return reportExit(environment, exit);
    }
  }

  /**
   * Copies output until the command exits. If standard output is closed, kills the command and
   * returns false.
   */
  static boolean copyOutput(CliEnvironment environment, Execution execution) {
    try {
      Exit _ = execution.follow(output -> copy(environment, output));
      return true;
    } catch (IOException closed) {
      execution.kill();
      return false;
    }
  }

  private static void copy(CliEnvironment environment, Output output) throws IOException {
    switch (output) {
      case Output.Data data -> {
        OutputStream to = data.channel() == Channel.STDERR ? environment.err() : environment.out();
        data.bytes().writeTo(to);
        to.flush();
      }
      case Output.Gap gap ->
          ErrorReport.writeLine(environment, gap.lost() + " bytes of output were lost");
    }
  }

  /**
   * Names the limits that a failed command reached. Memory and time limits are reported with its
   * exit.
   */
  private static void reportLimits(CliEnvironment environment, Exit exit, Set<LimitKind> reached) {
    if (exit.shellCode() == ExitCodes.OK) {
      return;
    }
    for (LimitKind kind : reached) {
      switch (kind) {
        case PROCESSES ->
            ErrorReport.writeLine(
                environment, "the process limit was reached; increase --processes");
        case THREADS ->
            ErrorReport.writeLine(environment, "the thread limit was reached; increase --threads");
        case DISK -> ErrorReport.writeLine(environment, "the disk limit was reached");
        case CPU, MEMORY, FILE_DESCRIPTORS, BANDWIDTH, KERNEL_OBJECTS, TIMEOUT -> {}
      }
    }
  }

  /** Reports why a command ended if its exit code does not tell, and returns the exit code. */
  static int reportExit(CliEnvironment environment, Exit exit) {
    switch (exit) {
      case Exit.TimedOut(var after) ->
          ErrorReport.writeLine(
              environment,
              "timed out after " + after.toMillis() / 1000.0 + " s; increase --timeout");
      case Exit.OutOfMemory() ->
          ErrorReport.writeLine(environment, "killed: out of memory; increase --memory");
      case Exit.Lost(var why) ->
          ErrorReport.writeLine(environment, "the sandbox was lost: " + why + "; run it again");
      case Exit.Exited ignored -> {}
      case Exit.Signaled ignored -> {}
    }
    return ExitCodes.of(exit);
  }
}
