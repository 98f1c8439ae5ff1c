package dev.isola.spi.capability;

import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import java.util.List;

/**
 * Finds executions again: after the handle was closed, from another process, after a restart of the
 * server.
 */
public non-sealed interface Attaching extends Capability {
  /** Returns the running executions and those that ended lately, oldest first. */
  List<ExecutionInfo> executions();

  /**
   * Attaches to an execution. Output comes from {@code offset} on; what is kept no longer is
   * reported as a {@link dev.isola.spi.exec.Output.Gap}. Ended executions can be attached to while
   * they are listed.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such execution
   */
  Execution attach(ExecutionId id, long offset);
}
