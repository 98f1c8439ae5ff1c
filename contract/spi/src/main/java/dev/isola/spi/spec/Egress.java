package dev.isola.spi.spec;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Which other hosts a sandbox in network mode {@code filtered} can reach.
 *
 * @param fallback what happens to a connection that no rule matches; if empty, it is allowed only
 *     if {@code blockDomains} is the only restriction
 * @param rules the most specific matching rule decides; of equally specific ones a denial
 * @param presets names of rule lists that the operator maintains
 * @param secrets names of stored secrets, by the environment variable that holds a placeholder
 * @param bypass hosts whose TLS is never opened, because they require a certificate of the client
 *     or the client accepts one certificate only
 * @param logConnections whether every connection is an event, not only every denial
 * @param limits limits of this sandbox; the operator's apply in addition
 */
public record Egress(
    Optional<EgressAction> fallback,
    List<EgressRule> rules,
    List<String> presets,
    Map<String, String> secrets,
    List<String> bypass,
    boolean logConnections,
    Limits limits) {

  /**
   * Limits of all connections together; those of the operator if empty.
   *
   * @param connections connections that are open at once
   * @param connectionsPerMinute connections that are opened in a minute
   * @param bytesPerSecond bytes in a second, both directions together
   * @param bytes bytes in the life of the sandbox, both directions together
   */
  public record Limits(
      OptionalLong connections,
      OptionalLong connectionsPerMinute,
      OptionalLong bytesPerSecond,
      OptionalLong bytes) {
    public static final Limits NONE =
        new Limits(
            OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());

    /** Returns the smaller limit of both in each respect. */
    public Limits and(Limits other) {
      return new Limits(
          smaller(connections, other.connections),
          smaller(connectionsPerMinute, other.connectionsPerMinute),
          smaller(bytesPerSecond, other.bytesPerSecond),
          smaller(bytes, other.bytes));
    }

    private static OptionalLong smaller(OptionalLong one, OptionalLong other) {
      if (one.isEmpty() || other.isEmpty()) {
        return one.isEmpty() ? other : one;
      }
      return OptionalLong.of(Math.min(one.getAsLong(), other.getAsLong()));
    }
  }

  public static final Egress NONE =
      new Egress(Optional.empty(), List.of(), List.of(), Map.of(), List.of(), false, Limits.NONE);

  public Egress {
    rules = List.copyOf(rules);
    presets = List.copyOf(presets);
    secrets = Collections.unmodifiableMap(new LinkedHashMap<>(secrets));
    bypass = List.copyOf(bypass);
  }

  /** Returns these settings with other rules. */
  public Egress withRules(List<EgressRule> others) {
    return new Egress(fallback, others, presets, secrets, bypass, logConnections, limits);
  }
}
