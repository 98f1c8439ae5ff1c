package dev.isola.engine.selection;

import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.LimitKind;
import java.util.Set;

/**
 * What a provider must be able to do for this request, beyond what the spec itself asks for.
 *
 * @param isolation the least; the installation's floor may be higher
 * @param enforced limits that must be enforced, besides those that the spec requires
 */
public record Require(
    Isolation isolation, Set<Class<? extends Capability>> capabilities, Set<LimitKind> enforced) {
  public static final Require NOTHING = new Require(Isolation.PROCESS, Set.of(), Set.of());

  public Require {
    capabilities = Set.copyOf(capabilities);
    enforced = Set.copyOf(enforced);
  }

  public static Require isolation(Isolation least) {
    return new Require(least, Set.of(), Set.of());
  }
}
