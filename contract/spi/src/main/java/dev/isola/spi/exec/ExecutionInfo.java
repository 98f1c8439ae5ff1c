package dev.isola.spi.exec;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One line of a sandbox's list of executions.
 *
 * @param firstOffset the oldest output that can still be read
 * @param endOffset where the output ends for now
 * @param takesInput whether it was started with input, and nobody has closed that yet
 * @param exit empty while it runs
 * @param endedAt empty while it runs
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
