package dev.isola.engine.startup;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Exit;
import java.time.Duration;
import java.util.Optional;

/**
 * Builds the errors of a startup. The commands come from the client, so the code is {@code
 * INIT_FAILED} and no other provider is tried. Commands and their output may contain secrets: they
 * are in the context, which only the client gets, and not in the message, which the ledger stores.
 */
record StartupFailure(SandboxId sandbox) {
  private static final int MAX_COMMAND = 500;
  private static final String REMEDY = "correct the command; its output is in the error's context";

  /** Returns the error for a start command that failed before the sandbox was ready. */
  SandboxException startCommandFailed(Command command, Exit exit, String output) {
    return fault(
            "the start command failed with exit code "
                + exit.shellCode()
                + " before the sandbox was ready",
            REMEDY,
            command)
        .with("exitCode", Integer.toString(exit.shellCode()))
        .with("output", output)
        .exception();
  }

  /**
   * Returns the error for a ready command that did not succeed in time.
   *
   * @param last its last completed run
   * @param startOutput the last output of the start command
   */
  SandboxException notReady(
      Command command, Duration timeout, Optional<ExecResult> last, String startOutput) {
    Fault fault =
        fault(
            "the ready command did not succeed within "
                + timeout.toSeconds()
                + " s"
                + last.map(run -> "; its last exit code was " + run.exitCode()).orElse(""),
            "run the start and ready commands by hand in a sandbox without a startup",
            command);
    if (last.isPresent()) {
      ExecResult run = last.get();
      fault =
          fault
              .with("exitCode", Integer.toString(run.exitCode()))
              .with("output", tail(run.stdout().tail().utf8() + run.stderr().tail().utf8()));
    }
    return fault.with("startOutput", startOutput).exception();
  }

  /** Returns the error for a sandbox that did not respond before its ready command ran. */
  SandboxException timedOut(Duration timeout) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the sandbox did not respond within "
                + timeout.toSeconds()
                + " s when its startup began",
            "retry, or check the load of the machine")
        .sandbox(sandbox)
        .exception();
  }

  /** Returns the error for a command that could not run. */
  SandboxException of(String name, Command command, SandboxException e) {
    if (e.code() == ErrorCode.OUTCOME_UNKNOWN || e.code() == ErrorCode.SANDBOX_DESTROYED) {
      return fault(
              "the sandbox ended while the " + name + " command ran: " + e.fault().problem(),
              "check whether the command needs more memory than the sandbox has",
              command)
          .exception(e);
    }
    if (e.category() != Category.CALLER) {
      return e;
    }
    return fault(
            "the " + name + " command cannot be started: " + e.fault().problem(),
            "correct the command",
            command)
        .with("code", e.code().name())
        .exception(e);
  }

  private Fault fault(String what, String remedy, Command command) {
    String text = command.display();
    return Fault.of(ErrorCode.INIT_FAILED, what, remedy)
        .sandbox(sandbox)
        .with(
            "command", text.length() > MAX_COMMAND ? text.substring(0, MAX_COMMAND) + "..." : text);
  }

  private static String tail(String text) {
    return text.substring(Math.max(0, text.length() - OutputTail.MAX_BYTES));
  }
}
