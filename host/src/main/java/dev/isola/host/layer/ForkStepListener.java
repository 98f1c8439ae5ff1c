package dev.isola.host.layer;

/** Is notified of the steps of a fork. Crash tests end the process at a step. */
@FunctionalInterface
public interface ForkStepListener {
  ForkStepListener NONE = _ -> {};

  /** Called on any thread between two steps; may not return. */
  void reached(ForkStep step);
}
