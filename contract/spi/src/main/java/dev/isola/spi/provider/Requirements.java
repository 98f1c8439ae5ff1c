package dev.isola.spi.provider;

import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a client requires of the provider of its sandbox. {@link ProviderInfo#missing} compares it
 * with what a provider declares.
 *
 * @param isolation the weakest acceptable level; the floor of the installation may be higher
 * @param limits the limits that must be enforced
 */
public record Requirements(
    Isolation isolation, Set<Class<? extends Capability>> capabilities, Set<LimitKind> limits) {
  public static final Requirements NONE = new Requirements(Isolation.PROCESS, Set.of(), Set.of());

  public Requirements {
    capabilities = Set.copyOf(capabilities);
    limits = Set.copyOf(limits);
  }

  public static Requirements isolation(Isolation least) {
    return new Requirements(least, Set.of(), Set.of());
  }

  public static Requirements limits(LimitKind... enforced) {
    return new Requirements(Isolation.PROCESS, Set.of(), Set.copyOf(List.of(enforced)));
  }

  @SafeVarargs
  public static Requirements capabilities(Class<? extends Capability>... capabilities) {
    Set<Class<? extends Capability>> all = new HashSet<>();
    for (Class<? extends Capability> one : capabilities) {
      all.add(one);
    }
    return new Requirements(Isolation.PROCESS, all, Set.of());
  }

  /** Returns the union of both requirements. */
  public Requirements and(Requirements more) {
    Set<Class<? extends Capability>> both = new HashSet<>(capabilities);
    both.addAll(more.capabilities);
    Set<LimitKind> kinds = new HashSet<>(limits);
    kinds.addAll(more.limits);
    return new Requirements(
        isolation.isAtLeast(more.isolation) ? isolation : more.isolation, both, kinds);
  }
}
