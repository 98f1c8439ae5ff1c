package dev.isola.engine.decorator;

import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import java.io.InputStream;

/** A fork point of memory. */
final class MemoryForkPointDecorator extends ForkPointDecorator implements MemoryForkPoint {
  private final MemoryForkPoint inner;

  MemoryForkPointDecorator(MemoryForkPoint inner, ProviderGuard guard, TimeLimits limits) {
    super(inner, guard, limits);
    this.inner = inner;
  }

  @Override
  public InputStream archive() {
    return guard.direct("archive", inner::archive);
  }
}
