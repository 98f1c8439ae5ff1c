package dev.isola.conformance.check;

import dev.isola.conformance.CheckContext;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;

/** Creates forks of memory. */
final class MemoryForks {
  private MemoryForks() {}

  static ForkPoint createForkPoint(Sandbox sandbox) {
    return sandbox.as(MemoryForking.class).orElseThrow().createForkPoint();
  }

  /** Creates a fork of a sandbox that has the default spec. */
  static Sandbox fork(CheckContext check, ForkPoint forkPoint) {
    return forkPoint.create(check.spec().build());
  }

  static Sandbox fork(CheckContext check, Sandbox source) {
    try (ForkPoint forkPoint = createForkPoint(source)) {
      return fork(check, forkPoint);
    }
  }
}
