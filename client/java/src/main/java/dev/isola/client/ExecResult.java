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

  /** Returns the exit code as a shell shows it. */
  public int exitCode() {
    return exit.shellCode();
  }

  public boolean timedOut() {
    return exit instanceof Exit.TimedOut;
  }
}
