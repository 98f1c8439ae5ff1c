package dev.isola.spi.spec;

import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Capability;
import java.util.HashSet;
import java.util.Set;

/**
 * What a provider must be and do for a spec, or the sandbox shall not be made.
 *
 * @param isolation the least; the installation's floor may be higher
 * @param enforced limits that must be enforced, besides {@link ResourceLimits#required()}
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

  /** Returns what meets both. */
  public Require and(Require more) {
    Set<Class<? extends Capability>> both = new HashSet<>(capabilities);
    both.addAll(more.capabilities);
    Set<LimitKind> kinds = new HashSet<>(enforced);
    kinds.addAll(more.enforced);
    return new Require(
        isolation.isAtLeast(more.isolation) ? isolation : more.isolation, both, kinds);
  }
}
