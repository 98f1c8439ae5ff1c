package dev.isola.engine.decorator;

import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/** A fork point whose sandboxes are {@link SandboxDecorator}s. */
class ForkPointDecorator implements ForkPoint {
  private final ForkPoint inner;
  private final TimeLimits limits;
  final ProviderGuard guard;

  ForkPointDecorator(ForkPoint inner, ProviderGuard guard, TimeLimits limits) {
    this.inner = inner;
    this.guard = guard;
    this.limits = limits;
  }

  /** Decorates a fork point; one of memory remains one. */
  static ForkPoint of(ForkPoint inner, ProviderGuard guard, TimeLimits limits) {
    return inner instanceof MemoryForkPoint memory
        ? new MemoryForkPointDecorator(memory, guard, limits)
        : new ForkPointDecorator(inner, guard, limits);
  }

  @Override
  public Duration frozenFor() {
    return guard.direct("frozenFor", inner::frozenFor);
  }

  /** Creates a sandbox. The outcome of a timeout is unknown. */
  @Override
  public Sandbox create(SandboxSpec spec) {
    return new SandboxDecorator(
        guard.call(
            "create", limits.create(spec), ErrorCode.OUTCOME_UNKNOWN, () -> inner.create(spec)),
        guard,
        limits,
        SandboxObserver.NONE);
  }

  @Override
  public void close() {
    guard.run("close", limits.measure(), ErrorCode.DEADLINE_EXCEEDED, inner::close);
  }
}
