package dev.isola.spi.exec;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An entry in the list of executions of a sandbox.
 *
 * @param firstOffset the oldest offset whose output can still be read
 * @param endOffset the current end of the output
 * @param stdinOpen whether the command was started with standard input that is still open
 * @param exit empty while the command runs
 * @param endedAt empty while the command runs
 */
public record ExecutionInfo(
    ExecutionId id,
    long pid,
    Optional<String> tag,
    List<String> argv,
    Optional<String> cwd,
    Optional<String> user,
    Instant startedAt,
    Optional<TerminalSize> terminal,
    long firstOffset,
    long endOffset,
    boolean stdinOpen,
    Optional<Exit> exit,
    Optional<Instant> endedAt) {

  public ExecutionInfo {
    argv = List.copyOf(argv);
  }

  public boolean running() {
    return exit.isEmpty();
  }
}
