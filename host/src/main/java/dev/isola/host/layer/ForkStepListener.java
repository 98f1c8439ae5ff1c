package dev.isola.host.layer;

/**
 * Is told how far a fork is. Whoever shows what holds after a crash ends the process there; the
 * product looks away.
 */
@FunctionalInterface
public interface ForkStepListener {
  ForkStepListener NONE = _ -> {};

  /** Called by any thread, between two steps; may not return. */
  void reached(ForkStep step);
}
