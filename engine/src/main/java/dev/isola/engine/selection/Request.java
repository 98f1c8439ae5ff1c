package dev.isola.engine.selection;

import dev.isola.spi.spec.Require;
import dev.isola.spi.spec.SandboxSpec;

/**
 * A sandbox somebody wants, and who may make it.
 *
 * @param require what the spec requires, and whatever else somebody added
 * @param strictNoFallback the caller takes the provider it named and no other, without any
 *     exception
 */
public record Request(SandboxSpec spec, Wish wish, Require require, boolean strictNoFallback) {
  /** A request that leaves the choice to the engine. */
  public static Request auto(SandboxSpec spec) {
    return new Request(spec, Wish.AUTO, spec.require(), false);
  }

  public static Request of(SandboxSpec spec, String provider) {
    return new Request(spec, Wish.of(provider), spec.require(), false);
  }

  /** Returns the same request with another spec. */
  public Request on(SandboxSpec other) {
    return new Request(other, wish, require, strictNoFallback);
  }

  public Request requiring(Require more) {
    return new Request(spec, wish, require.and(more), strictNoFallback);
  }

  public Request strict() {
    return new Request(spec, wish, require, true);
  }
}
