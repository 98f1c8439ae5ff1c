package dev.isola.snapshot.failpoint;

/**
 * Observes failpoints. Crash tests end the process at a failpoint; production code ignores them.
 */
@FunctionalInterface
public interface FailpointListener {
  FailpointListener NONE = _ -> {};

  /** Called by any thread of the store at a failpoint. May not return. */
  void reached(SnapshotFailpoint step);
}
