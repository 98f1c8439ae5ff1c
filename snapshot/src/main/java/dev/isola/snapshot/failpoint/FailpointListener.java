package dev.isola.snapshot.failpoint;

/**
 * Is told where the store is. Whoever shows what holds after a crash ends the process there; the
 * product looks away.
 */
@FunctionalInterface
public interface FailpointListener {
  FailpointListener NONE = _ -> {};

  /** Called by any thread of the store, between two steps; may not return. */
  void reached(SnapshotFailpoint step);
}
