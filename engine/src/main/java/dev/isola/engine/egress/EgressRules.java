package dev.isola.engine.egress;

import dev.isola.egress.EgressSettings;
import dev.isola.egress.OutboundDialer;
import dev.isola.egress.address.AddressFloor;
import dev.isola.egress.address.BoundedResolver;
import dev.isola.egress.address.DnsResolver;
import dev.isola.egress.address.HostAddresses;
import dev.isola.egress.address.NameResolver;
import dev.isola.egress.http.HttpRuleMatcher;
import dev.isola.egress.policy.Ceiling;
import dev.isola.egress.policy.EgressPolicy;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.AddressBlock;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.Network;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** What the configuration of the operator makes of the network of a spec. */
public final class EgressRules {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(10);
  private static final int CONCURRENT_LOOKUPS = 64;

  private final Ceiling ceiling;
  private final Map<String, List<EgressRule>> presets;
  private final BoundedResolver resolver;
  private final AddressFloor floor;

  private EgressRules(
      Ceiling ceiling,
      Map<String, List<EgressRule>> presets,
      BoundedResolver resolver,
      AddressFloor floor) {
    this.ceiling = ceiling;
    this.presets = presets;
    this.resolver = resolver;
    this.floor = floor;
  }

  /**
   * Reads the configuration.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the file of presets is invalid
   */
  public static EgressRules of(Config config) {
    Egress.Limits limits =
        new Egress.Limits(
            limit(config.get(ConfigKeys.EGRESS_CONNECTIONS)),
            limit(config.get(ConfigKeys.EGRESS_CONNECTIONS_PER_MINUTE)),
            limit(config.get(ConfigKeys.EGRESS_BYTES_PER_SECOND)),
            limit(config.get(ConfigKeys.EGRESS_BYTES)));
    Ceiling ceiling =
        new Ceiling(
            config.get(ConfigKeys.EGRESS_DENY),
            config.get(ConfigKeys.EGRESS_ALLOW),
            config.get(ConfigKeys.EGRESS_LIMIT_TO),
            config.get(ConfigKeys.EGRESS_DEFAULT),
            limits);
    List<AddressBlock> opened =
        config.get(ConfigKeys.EGRESS_ALLOW_ADDRESSES).stream()
            .map(AddressBlock::parse)
            .flatMap(Optional::stream)
            .toList();
    List<String> servers = config.get(ConfigKeys.EGRESS_DNS);
    NameResolver resolver = servers.isEmpty() ? BoundedResolver.system() : new DnsResolver(servers);
    return new EgressRules(
        ceiling,
        PresetReader.read(config.get(ConfigKeys.EGRESS_PRESETS)),
        new BoundedResolver(resolver, CONCURRENT_LOOKUPS, RESOLVE_TIMEOUT),
        new AddressFloor(new HostAddresses(), opened));
  }

  private static OptionalLong limit(long value) {
    return value == 0 ? OptionalLong.empty() : OptionalLong.of(value);
  }

  /**
   * Returns what applies to a sandbox with this network.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it names an unknown preset, or has an HTTP rule
   *     that cannot be applied
   */
  public EgressSettings settings(Network network) {
    network.egress().rules().stream()
        .flatMap(rule -> rule.http().stream())
        .map(HttpRuleMatcher::problem)
        .flatMap(Optional::stream)
        .findFirst()
        .ifPresent(
            problem -> {
              throw Fault.of(
                      ErrorCode.INVALID_SPEC, "an HTTP rule " + problem, "correct network.egress")
                  .exception();
            });
    return new EgressSettings(
        EgressPolicy.of(network, ceiling, presets),
        network.egress().limits().and(ceiling.limits()));
  }

  /** Returns the presets by name. */
  public Map<String, List<EgressRule>> presets() {
    return presets;
  }

  /** Returns a dialer for one sandbox, which has a share of the lookups. */
  OutboundDialer dialer() {
    return new OutboundDialer(resolver.share(), floor, CONNECT_TIMEOUT);
  }
}
