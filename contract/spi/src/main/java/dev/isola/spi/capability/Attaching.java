package dev.isola.spi.capability;

import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import java.util.List;

/**
 * Lists executions and attaches to them: after their handle was closed, from another process, or
 * after a restart of the server.
 */
public non-sealed interface Attaching extends Capability {
  /** Returns the running executions and those that ended recently, oldest first. */
  List<ExecutionInfo> executions();

  /**
   * Attaches to an execution and replays its output from {@code offset}. Output that is no longer
   * retained is reported as a {@link dev.isola.spi.exec.Output.Gap}. An ended execution can be
   * attached to for as long as {@link #executions()} lists it.
   *
   * @throws dev.isola.spi.error.NotFound if the execution does not exist
   */
  Execution attach(ExecutionId id, long offset);
}
