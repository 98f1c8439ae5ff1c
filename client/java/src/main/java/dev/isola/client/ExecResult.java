package dev.isola.client;

import java.time.Duration;

/**
 * What a command that was waited for left.
 *
 * @param truncated whether output between its ends was dropped, because it was too much
 * @param stdoutBytes all that it wrote, kept or not
 */
public record ExecResult(
    String stdout,
    String stderr,
    Exit exit,
    Duration duration,
    boolean truncated,
    long stdoutBytes,
    long stderrBytes) {

  static ExecResult read(Fields answer) {
    return new ExecResult(
        answer.text("stdout"),
        answer.text("stderr"),
        Exit.read(answer.object("exit").all()),
        Duration.ofMillis(answer.whole("durationMs")),
        answer.flag("truncated"),
        answer.whole("stdoutBytes"),
        answer.whole("stderrBytes"));
  }

  /** Returns the exit code as a shell shows it. */
  public int exitCode() {
    return exit.shellCode();
  }

  public boolean timedOut() {
    return exit instanceof Exit.TimedOut;
  }
}
