package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.Output;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/** Prints the output of a remote command as it arrives, and reports its exit. */
public final class RemoteOutput {
  private RemoteOutput() {}

  /**
   * Copies output up to offset {@code end}, or until the command exits.
   *
   * @throws IOException if standard output is closed
   */
  public static void copy(CliEnvironment environment, Execution execution, long end)
      throws IOException {
    while (execution.offset() < end) {
      Optional<Output> next = execution.read();
      if (next.isEmpty()) {
        return;
      }
      write(environment, next.get());
    }
  }

  static void write(CliEnvironment environment, Output piece) throws IOException {
    switch (piece) {
      case Output.Data data -> {
        OutputStream to =
            data.channel() == Output.Channel.STDERR ? environment.err() : environment.out();
        data.writeTo(to);
        to.flush();
      }
      case Output.Gap gap ->
          ErrorReport.writeLine(environment, gap.lost() + " bytes of output were lost");
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
          ErrorReport.writeLine(
              environment, "killed: out of memory; create a sandbox with more --memory");
      case Exit.Lost(var why) ->
          ErrorReport.writeLine(
              environment,
              "the sandbox was lost: " + CellFormat.text(why) + "; run isola ls for its state");
      case Exit.Exited ignored -> {}
      case Exit.Signaled ignored -> {}
    }
    return exit instanceof Exit.Lost ? ExitCodes.NOT_RUN : exit.shellCode();
  }
}
