package dev.isola.egress.policy;

import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.Network;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Decides which destinations a sandbox reaches. In this order:
 *
 * <ol>
 *   <li>destinations that the operator denies;
 *   <li>destinations that the operator allows;
 *   <li>where the operator limits what specs can allow: all destinations outside these;
 *   <li>the most specific rule of the sandbox, presets included;
 *   <li>the default of the sandbox, or that of the operator.
 * </ol>
 *
 * <p>It never resolves a name: a lookup would already tell the owner of the name something.
 */
public final class EgressPolicy {
  /** Ports on which programs connect if no rule names ports; used where each needs a listener. */
  private static final Set<Integer> USUAL_PORTS =
      Set.of(
          22, 25, 80, 110, 143, 443, 465, 587, 853, 993, 995, 1433, 3000, 3306, 5000, 5432, 5671,
          5672, 6379, 8000, 8080, 8443, 8883, 9000, 9042, 9092, 9200, 9418, 11211, 27017);

  /** As many listeners as the guest agent has. */
  private static final int MAX_PORTS = 64;

  private final RuleIndex denied;
  private final RuleIndex always;
  private final Optional<RuleIndex> limit;
  private final RuleIndex rules;
  private final List<EgressRule> ruleList;
  private final EgressAction fallback;
  private final RuleIndex bypass;

  private EgressPolicy(
      Ceiling ceiling, List<EgressRule> rules, EgressAction fallback, List<String> bypass) {
    this.denied = Ceiling.index(ceiling.deny());
    this.always = Ceiling.index(ceiling.allow());
    this.limit =
        ceiling.limitTo().isEmpty()
            ? Optional.empty()
            : Optional.of(Ceiling.index(ceiling.limitTo()));
    this.rules = new RuleIndex(rules);
    this.ruleList = rules;
    this.fallback = fallback;
    this.bypass = Ceiling.index(bypass);
  }

  /**
   * Returns the policy of a sandbox.
   *
   * @param presets the rules of each preset, by name
   * @throws dev.isola.spi.error.InvalidRequest if the network names an unknown preset
   */
  public static EgressPolicy of(
      Network network, Ceiling ceiling, Map<String, List<EgressRule>> presets) {
    Egress egress = network.egress();
    List<EgressRule> all = new ArrayList<>(egress.rules());
    network.allowDomains().forEach(domain -> all.add(EgressRule.allow(domain)));
    network.blockDomains().forEach(domain -> all.add(EgressRule.deny(domain)));
    egress.presets().forEach(name -> all.addAll(Presets.require(presets, name)));
    boolean onlyBlocks =
        !all.isEmpty() && all.stream().allMatch(rule -> rule.action() == EgressAction.DENY);
    EgressAction fallback =
        egress.fallback().orElse(onlyBlocks ? EgressAction.ALLOW : ceiling.fallback());
    return new EgressPolicy(ceiling, List.copyOf(all), fallback, egress.bypass());
  }

  /** Decides about a connection to a name in the form of {@link Destination#hostName}. */
  public Decision decide(String name, int port) {
    return decide(
        name,
        port,
        denied.find(name, port),
        always.find(name, port),
        limit.map(index -> index.find(name, port).isPresent()).orElse(true),
        rules.find(name, port),
        fallback);
  }

  /**
   * Decides about a connection to an address without a name. The default allows names only, as
   * {@code *} does: a program that connects to an address by itself is told to use the name.
   */
  public Decision decide(InetAddress address, int port) {
    return decide(
        address.getHostAddress(),
        port,
        denied.find(address, port),
        always.find(address, port),
        limit.map(index -> index.find(address, port).isPresent()).orElse(true),
        rules.find(address, port),
        EgressAction.DENY);
  }

  private static Decision decide(
      String destination,
      int port,
      Optional<EgressRule> denied,
      Optional<EgressRule> always,
      boolean withinLimit,
      Optional<EgressRule> rule,
      EgressAction fallback) {
    if (denied.isPresent()) {
      return Decision.denied("the operator denies " + denied.get().destination(), "");
    }
    if (always.isPresent()) {
      return Decision.allowed("the operator allows " + always.get().destination());
    }
    boolean allowed = rule.map(EgressRule::action).orElse(fallback) == EgressAction.ALLOW;
    if (allowed && !withinLimit) {
      return Decision.denied("the operator does not let sandboxes allow " + destination, "");
    }
    if (allowed) {
      return rule.map(one -> Decision.allowed("", one))
          .orElseGet(() -> Decision.allowed("default allow"));
    }
    String remedy = withinLimit ? "allow " + destination + " port " + port : "";
    return Decision.denied(
        rule.map(Decision::describe).orElse("no rule allows " + destination + " port " + port),
        remedy);
  }

  /** Returns whether the TLS of a host is never opened. */
  public boolean bypasses(String name, int port) {
    return bypass.find(name, port).isPresent();
  }

  /**
   * Returns the ports to listen on where not every port can be passed on: those of rules, then
   * usual ones.
   */
  public Set<Integer> ports() {
    return Stream.concat(
            ruleList.stream()
                .flatMap(rule -> rule.ports().stream())
                .flatMap(range -> IntStream.rangeClosed(range.first(), range.last()).boxed()),
            USUAL_PORTS.stream().sorted())
        .distinct()
        .limit(MAX_PORTS)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the rules of the sandbox, presets included. */
  public List<EgressRule> rules() {
    return ruleList;
  }

  /** Returns what happens to connections to names that no rule matches. */
  public EgressAction fallback() {
    return fallback;
  }
}
