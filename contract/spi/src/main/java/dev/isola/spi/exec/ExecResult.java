package dev.isola.spi.exec;

import dev.isola.spi.LimitKind;
import java.time.Duration;
import java.util.Set;

/**
 * The result of a command that ran to its end.
 *
 * @param command the command as typed at a shell prompt
 * @param duration the time from start to end, measured in the sandbox
 * @param limitsMet see {@link Execution#limitsMet()}
 */
public record ExecResult(
    String command,
    Exit exit,
    CapturedOutput stdout,
    CapturedOutput stderr,
    Duration duration,
    Set<LimitKind> limitsMet) {
  public ExecResult {
    limitsMet = Set.copyOf(limitsMet);
  }

  public boolean timedOut() {
    return exit instanceof Exit.TimedOut;
  }

  public boolean succeeded() {
    return exit instanceof Exit.Exited(int code) && code == 0;
  }

  /** Returns the exit code that a shell would report; see {@link Exit#shellCode()}. */
  public int exitCode() {
    return exit.shellCode();
  }

  /**
   * Waits for {@code execution} to end and collects its output within {@code limit}. Interrupting
   * the calling thread kills the command. The execution is always closed.
   *
   * @throws dev.isola.spi.error.SandboxException if the sandbox fails while the command runs
   */
  public static ExecResult collect(Execution execution, Command command, OutputLimit limit) {
    OutputCollector stdout = new OutputCollector(limit);
    OutputCollector stderr = new OutputCollector(limit);
    Exit exit =
        execution.followToEnd(
            output -> {
              switch (output) {
                case Output.Data data ->
                    (data.channel() == Channel.STDERR ? stderr : stdout).add(data.bytes());
                case Output.Gap gap -> stdout.addLost(gap.lost());
              }
            });
    return new ExecResult(
        command.display(),
        exit,
        stdout.captured(),
        stderr.captured(),
        execution.duration(),
        execution.limitsMet());
  }
}
