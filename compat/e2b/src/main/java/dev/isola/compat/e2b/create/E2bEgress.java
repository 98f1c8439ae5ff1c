package dev.isola.compat.e2b.create;

import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.PortRange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The egress rules of an E2B request. A rule that cannot be enforced is rejected, not ignored.
 *
 * <p>As at E2B, what {@code allowOut} names is allowed even if {@code denyOut} denies it, and names
 * in {@code allowOut} require that {@code denyOut} denies everything else. The server decides by
 * name: an address in {@code allowOut} allows connections to the address itself, and not to a name
 * that resolves to it; single addresses in {@code denyOut} are rejected, because a name could
 * resolve to them.
 *
 * @param deniesAll whether only {@code allowed} can be reached
 * @param denies whether single destinations are denied
 * @param allowed names and blocks of addresses
 * @param headers the headers to set in requests to a host, by host
 */
record E2bEgress(
    boolean deniesAll,
    boolean denies,
    List<String> allowed,
    Map<String, Map<String, String>> headers) {
  private static final String EVERYTHING = "0.0.0.0/0";
  private static final List<String> ALL_ADDRESSES = List.of(EVERYTHING, "::/0");
  private static final List<String> UNSUPPORTED =
      List.of("egressProxy", "dnsServers", "httpsPorts");

  /** The ports on which E2B changes requests. */
  private static final List<PortRange> HTTP_PORTS =
      List.of(new PortRange(80, 80), new PortRange(443, 443));

  private static final String SECRET = "${e2b.secrets.";
  private static final String IDENTITY = "${e2b.identity.";

  /**
   * Reads the rules of a request.
   *
   * @param access the older {@code allow_internet_access} flag
   */
  static E2bEgress of(E2bRequestBody rules, boolean access) {
    for (String name : UNSUPPORTED) {
      boolean present =
          switch (rules.fields().get(name)) {
            case null -> false;
            case List<?> list -> !list.isEmpty();
            case Map<?, ?> map -> !map.isEmpty();
            default -> true;
          };
      if (present) {
        throw unsupported(name, "omit it, or set allow_internet_access to false");
      }
    }
    List<String> denied = rules.texts("denyOut");
    List<String> allowed = rules.texts("allowOut");
    denied.forEach(text -> requireBlock("denyOut", text));
    allowed.forEach(E2bEgress::requireDestination);
    boolean allowsAll = allowed.contains(EVERYTHING);
    boolean deniesAll = !allowsAll && (!access || denied.contains(EVERYTHING));
    if (!deniesAll && allowed.stream().anyMatch(text -> !isBlock(text))) {
      throw E2bRequestBody.invalidField(
          "network.allowOut", "has a name, which requires " + EVERYTHING + " in denyOut");
    }
    return new E2bEgress(deniesAll, !allowsAll && !denied.isEmpty(), allowed, headers(rules));
  }

  private static boolean isBlock(String text) {
    return Destination.parse(text).filter(one -> one instanceof Destination.Block).isPresent();
  }

  private static void requireBlock(String field, String text) {
    if (!isBlock(text)) {
      throw E2bRequestBody.invalidField(
          "network." + field, "must contain addresses or blocks of addresses only");
    }
  }

  private static void requireDestination(String text) {
    if (Destination.parse(text).isEmpty()) {
      throw E2bRequestBody.invalidField(
          "network.allowOut", "must contain names, *.SUFFIX, addresses or blocks of addresses");
    }
  }

  private static Map<String, Map<String, String>> headers(E2bRequestBody rules) {
    Map<String, Map<String, String>> headers = new LinkedHashMap<>();
    E2bRequestBody hosts = rules.object("rules").orElse(new E2bRequestBody(Map.of()));
    for (String host : hosts.fields().keySet()) {
      if (Destination.parse(host).filter(Destination::isName).isEmpty()) {
        throw unsupported("rules for an address", "use the name of the host");
      }
      Map<String, String> set = new LinkedHashMap<>();
      for (E2bRequestBody rule : hosts.objects(host)) {
        rule.object("transform")
            .ifPresent(
                transform ->
                    transform
                        .map("headers")
                        .forEach((name, value) -> set.put(name, translated(value))));
      }
      if (!set.isEmpty()) {
        headers.put(host, set);
      }
    }
    return headers;
  }

  /** Translates references to secrets into those of Isola. */
  private static String translated(String value) {
    if (value.contains(IDENTITY)) {
      throw unsupported("rules with identity tokens", "store the token as a secret and name it");
    }
    return value.replace(SECRET, "${secret.");
  }

  /**
   * Returns the network that enforces these rules.
   *
   * @param allowedMode the network mode of sandboxes that may reach the internet
   */
  Network network(NetworkMode allowedMode) {
    boolean reachesNothing = deniesAll && allowed.isEmpty();
    if (allowedMode == NetworkMode.FILTERED) {
      return Network.filtered(egress());
    }
    if (reachesNothing) {
      return Network.of(NetworkMode.NONE);
    }
    if (allowedMode == NetworkMode.NONE) {
      if (deniesAll || !headers.isEmpty()) {
        throw unsupported(
            deniesAll ? "allowOut" : "rules", "the operator must set e2b.network to filtered");
      }
      return denies ? Network.of(NetworkMode.NONE) : Network.DEFAULT;
    }
    return deniesAll || denies || !headers.isEmpty()
        ? Network.filtered(egress())
        : Network.of(allowedMode);
  }

  /** Returns the settings of a filtered network that enforce these rules. */
  Egress egress() {
    if (!deniesAll && denies) {
      throw unsupported(
          "denyOut with single addresses",
          "deny " + EVERYTHING + " and allow what the sandbox needs");
    }
    List<EgressRule> rules = new ArrayList<>();
    headers.forEach((host, set) -> rule(host, set).ifPresent(rules::add));
    (deniesAll ? allowed : ALL_ADDRESSES)
        .forEach(text -> rules.add(new EgressRule(EgressAction.ALLOW, text, List.of(), List.of())));
    return new Egress(
        Optional.of(deniesAll ? EgressAction.DENY : EgressAction.ALLOW),
        rules,
        List.of(),
        Map.of(),
        List.of(),
        false,
        Egress.Limits.NONE);
  }

  /** Returns the rule that sets headers; none if the host is not allowed otherwise. */
  private Optional<EgressRule> rule(String host, Map<String, String> set) {
    if (deniesAll && allowed.stream().noneMatch(text -> covers(text, host))) {
      return Optional.empty();
    }
    HttpRule http = new HttpRule(List.of(), Optional.empty(), Map.of(), set);
    return Optional.of(new EgressRule(EgressAction.ALLOW, host, HTTP_PORTS, List.of(http)));
  }

  private static boolean covers(String allowed, String host) {
    return switch (Destination.parse(allowed).orElseThrow()) {
      case Destination.Host(String name) -> name.equalsIgnoreCase(host);
      case Destination.Suffix(String suffix) ->
          allowed.equalsIgnoreCase(host) || host.toLowerCase(Locale.ROOT).endsWith("." + suffix);
      case Destination.AnyName() -> true;
      case Destination.Block _ -> false;
    };
  }

  private static SandboxException unsupported(String name, String remedy) {
    return Fault.of(ErrorCode.NOT_IMPLEMENTED, "network." + name + " is not supported", remedy)
        .exception();
  }
}
