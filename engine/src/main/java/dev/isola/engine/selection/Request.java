package dev.isola.engine.selection;

import dev.isola.spi.spec.SandboxSpec;

/**
 * A sandbox somebody wants, and who may make it.
 *
 * @param strictNoFallback the caller takes the provider it named and no other, without any
 *     exception
 */
public record Request(SandboxSpec spec, Wish wish, Require require, boolean strictNoFallback) {
  /** A request that leaves the choice to the engine. */
  public static Request auto(SandboxSpec spec) {
    return new Request(spec, Wish.AUTO, Require.NOTHING, false);
  }

  public static Request of(SandboxSpec spec, String provider) {
    return new Request(spec, Wish.of(provider), Require.NOTHING, false);
  }

  public Request requiring(Require more) {
    return new Request(spec, wish, more, strictNoFallback);
  }

  public Request strict() {
    return new Request(spec, wish, require, true);
  }
}
