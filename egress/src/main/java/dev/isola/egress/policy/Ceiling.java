package dev.isola.egress.policy;

import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import java.util.List;

/**
 * What the operator decides for all sandboxes. No spec allows more.
 *
 * @param deny destinations that no sandbox reaches
 * @param allow destinations that every sandbox in mode {@code filtered} reaches
 * @param limitTo if not empty, the only further destinations that a spec can allow
 * @param fallback what happens to connections that no rule matches, if the spec does not say
 * @param limits limits of a sandbox that its spec cannot raise
 */
public record Ceiling(
    List<String> deny,
    List<String> allow,
    List<String> limitTo,
    EgressAction fallback,
    Egress.Limits limits) {
  public static final Ceiling NONE =
      new Ceiling(List.of(), List.of(), List.of(), EgressAction.DENY, Egress.Limits.NONE);

  public Ceiling {
    deny = List.copyOf(deny);
    allow = List.copyOf(allow);
    limitTo = List.copyOf(limitTo);
  }

  static RuleIndex index(List<String> destinations) {
    return new RuleIndex(destinations.stream().map(EgressRule::allow).toList());
  }
}
