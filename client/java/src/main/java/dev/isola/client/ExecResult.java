package dev.isola.client;

import java.time.Duration;

/**
 * Result of a completed command.
 *
 * @param truncated whether the middle of the output was dropped because it exceeded the limit
 * @param stdoutBytes number of bytes written, including dropped ones
 */
public record ExecResult(
    String stdout,
    String stderr,
    Exit exit,
    Duration duration,
    boolean truncated,
    long stdoutBytes,
    long stderrBytes) {

  static ExecResult read(JsonFields answer) {
    return new ExecResult(
        answer.text("stdout"),
        answer.text("stderr"),
        Exit.read(answer.object("exit").all()),
        Duration.ofMillis(answer.integer("durationMs")),
        answer.flag("truncated"),
        answer.integer("stdoutBytes"),
        answer.integer("stderrBytes"));
  }

  /** Returns the exit code as a shell reports it. */
  public int exitCode() {
    return exit.shellCode();
  }

  public boolean timedOut() {
    return exit instanceof Exit.TimedOut;
  }
}
