package dev.isola.integrations.tools;

import dev.isola.client.ExecResult;
import dev.isola.client.Exit;
import java.time.Duration;

/**
 * The result of a command, as plain text of bounded length.
 *
 * @param stdout the beginning and the end, with a note where something was left out
 * @param stderr the same
 * @param exitCode as a shell reports it
 * @param status how the command ended, such as {@code exit code 1}
 */
public record CommandResult(String stdout, String stderr, int exitCode, String status) {
  static CommandResult of(ExecResult result, int maxOutput) {
    int limit = result.stderr().isEmpty() || result.stdout().isEmpty() ? maxOutput : maxOutput / 2;
    return new CommandResult(
        excerpt("standard output", result.stdout(), result.stdoutBytes(), limit),
        excerpt("standard error", result.stderr(), result.stderrBytes(), limit),
        result.exitCode(),
        describe(result.exit()));
  }

  /**
   * Returns the beginning and the end of the output. The server drops only the middle, and keeps
   * more on each side than this does.
   */
  private static String excerpt(String name, String output, long bytes, int limit) {
    String text = PlainText.of(output);
    if (text.length() <= limit) {
      return text;
    }
    int half = limit / 2;
    String head = text.substring(0, boundary(text, half));
    String tail = text.substring(boundary(text, text.length() - half));
    return head
        + "\n[... the middle of the "
        + name
        + " is left out here: it has "
        + bytes
        + " bytes; to read all of it, redirect it to a file and read that in parts ...]\n"
        + tail;
  }

  /** Returns the index, moved so that no surrogate pair is cut. */
  private static int boundary(String text, int index) {
    return Character.isLowSurrogate(text.charAt(index)) ? index - 1 : index;
  }

  private static String describe(Exit exit) {
    return switch (exit) {
      case Exit.Exited(int code) -> "exit code " + code;
      case Exit.Signaled(String signal, int number) ->
          "killed by " + PlainText.line(signal) + " (" + number + ")";
      case Exit.TimedOut(Duration after) -> "killed: timeout of " + after.toSeconds() + " s";
      case Exit.OutOfMemory() -> "killed: out of memory";
      case Exit.Lost(String why) -> "lost: " + PlainText.line(why);
    };
  }

  public boolean isSuccess() {
    return exitCode == 0;
  }

  /** Returns output and status in one text. */
  public String text() {
    return section("", stdout) + section("[standard error]\n", stderr) + "[" + status + "]";
  }

  private static String section(String title, String output) {
    return output.isEmpty() ? "" : title + output + (output.endsWith("\n") ? "" : "\n");
  }
}
