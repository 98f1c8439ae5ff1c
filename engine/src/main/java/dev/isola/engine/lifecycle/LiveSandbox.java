package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.Reservation;
import dev.isola.spi.capability.Sandbox;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds of one sandbox. Its monitor guards the fields and is never held during
 * I/O; the lock of an {@link ExclusiveOperation} is. {@link LiveSandboxes} drops an entry that
 * holds nothing.
 */
final class LiveSandbox {
  private final Map<ExclusiveOperation, ReentrantLock> operations =
      new EnumMap<>(ExclusiveOperation.class);

  /** The connection to the sandbox; null if this process is not attached to it. */
  @Nullable Sandbox sandbox;

  /** The provider of a sandbox that the ledger records as running; null if that is not known. */
  @Nullable String provider;

  @Nullable Reservation reservation;

  /** Changes whenever the sandbox is booted again. */
  long bootGeneration;

  /** Whether this process is creating or suspending the sandbox. */
  boolean inTransition;

  /** Whether the processes of the sandbox are about to be killed. */
  boolean ending;

  /** The threads that attach to the sandbox, or hold or wait for the lock of an operation. */
  int holders;

  /** Counts the removals, so that a thread that attaches notices one. */
  long removals;

  /** Whether the entry is no longer in the map. */
  boolean dropped;

  /** Returns the lock of an operation. */
  ReentrantLock lock(ExclusiveOperation operation) {
    return operations.computeIfAbsent(operation, _ -> new ReentrantLock(true));
  }

  /** Returns whether a thread carries out an operation. */
  boolean isInProgress(ExclusiveOperation operation) {
    ReentrantLock lock = operations.get(operation);
    return lock != null && lock.isLocked();
  }

  boolean isEmpty() {
    return sandbox == null
        && provider == null
        && reservation == null
        && bootGeneration == 0
        && !inTransition
        && !ending
        && holders == 0;
  }
}
