package dev.isola.egress.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.Destination;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.PortRange;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** G1, G2: which rule decides about a destination. */
class EgressPolicyTest {
  private static EgressPolicy policy(EgressRule... rules) {
    return policy(Ceiling.NONE, Optional.empty(), rules);
  }

  private static EgressPolicy policy(
      Ceiling ceiling, Optional<EgressAction> fallback, EgressRule... rules) {
    Egress egress =
        new Egress(
            fallback, List.of(rules), List.of(), Map.of(), List.of(), false, Egress.Limits.NONE);
    return EgressPolicy.of(Network.filtered(egress), ceiling, Presets.builtIn());
  }

  private static EgressRule ports(EgressRule rule, int first, int last) {
    return new EgressRule(
        rule.action(), rule.destination(), List.of(new PortRange(first, last)), List.of());
  }

  @ParameterizedTest
  @CsvSource({
    "example.com, example.com, true",
    "example.com, EXAMPLE.com, true",
    "example.com, www.example.com, false",
    "example.com, evilexample.com, false",
    "example.com, example.com.evil, false",
    "example.com, example.co, false",
    "*.example.com, www.example.com, true",
    "*.example.com, a.b.example.com, true",
    "*.example.com, example.com, false",
    "*.example.com, evilexample.com, false",
    "*.example.com, .example.com, false",
    "*, anything.example, true",
  })
  void namesMatchWhatTheirRuleSays(String rule, String name, boolean allowed) {
    EgressPolicy policy = policy(EgressRule.allow(rule));

    boolean found =
        Destination.hostName(name).map(host -> policy.decide(host, 443).allowed()).orElse(false);

    assertThat(found).isEqualTo(allowed);
  }

  @Test
  void mostSpecificRuleDecides() {
    EgressPolicy policy =
        policy(
            EgressRule.deny("*"),
            EgressRule.allow("*.example.com"),
            EgressRule.deny("*.private.example.com"),
            EgressRule.allow("one.private.example.com"));

    assertThat(policy.decide("other.org", 443).allowed()).isFalse();
    assertThat(policy.decide("www.example.com", 443).allowed()).isTrue();
    assertThat(policy.decide("two.private.example.com", 443).allowed()).isFalse();
    assertThat(policy.decide("one.private.example.com", 443).allowed()).isTrue();
  }

  @Test
  void ofEquallySpecificRulesTheDenialDecides() {
    EgressPolicy policy = policy(EgressRule.allow("example.com"), EgressRule.deny("example.com"));

    assertThat(policy.decide("example.com", 443).allowed()).isFalse();
  }

  @Test
  void ruleForOtherPortsDoesNotMatch() {
    EgressPolicy policy =
        policy(ports(EgressRule.allow("example.com"), 8000, 8100), EgressRule.deny("*.com"));

    assertThat(policy.decide("example.com", 8000).allowed()).isTrue();
    assertThat(policy.decide("example.com", 8100).allowed()).isTrue();
    assertThat(policy.decide("example.com", 8101).allowed()).isFalse();
    assertThat(policy.decide("example.com", 443).allowed()).isFalse();
  }

  @Test
  void defaultIsToDeny() {
    Decision decision = policy().decide("example.com", 22);

    assertThat(decision.allowed()).isFalse();
    assertThat(decision.rule()).isEqualTo("no rule allows example.com port 22");
    assertThat(decision.remedy()).isEqualTo("allow example.com port 22");
  }

  @Test
  void blockedDomainsAloneLeaveOthersOpen() {
    Network network = new Network(Optional.empty(), List.of(), List.of("evil.example"), List.of());
    EgressPolicy policy = EgressPolicy.of(network, Ceiling.NONE, Map.of());

    assertThat(network.isFiltered()).isTrue();
    assertThat(policy.decide("evil.example", 443).allowed()).isFalse();
    assertThat(policy.decide("good.example", 443).allowed()).isTrue();
  }

  @Test
  void addressesNeedRulesOfTheirOwn() throws Exception {
    InetAddress address = InetAddress.getByName("192.0.2.7");
    assertThat(policy(EgressRule.allow("*")).decide(address, 443).allowed()).isFalse();
    assertThat(policy(Ceiling.NONE, Optional.of(EgressAction.ALLOW)).decide(address, 443).allowed())
        .isFalse();

    EgressPolicy policy = policy(EgressRule.allow("192.0.2.0/24"), EgressRule.deny("192.0.2.8"));
    assertThat(policy.decide(address, 443).allowed()).isTrue();
    assertThat(policy.decide(InetAddress.getByName("192.0.2.8"), 443).allowed()).isFalse();
    assertThat(policy.decide(InetAddress.getByName("192.0.3.1"), 443).allowed()).isFalse();
    assertThat(policy.decide(InetAddress.getByName("::ffff:192.0.2.7"), 443).allowed()).isTrue();
    assertThat(policy.decide(InetAddress.getByName("2001:db8::1"), 443).allowed()).isFalse();
  }

  @Test
  void operatorDeniesWhateverTheSpecAllows() throws Exception {
    Ceiling ceiling =
        new Ceiling(
            List.of("*.evil.example", "192.0.2.0/24"),
            List.of(),
            List.of(),
            EgressAction.DENY,
            Egress.Limits.NONE);
    EgressPolicy policy =
        policy(
            ceiling,
            Optional.of(EgressAction.ALLOW),
            EgressRule.allow("a.evil.example"),
            EgressRule.allow("192.0.2.1"));

    Decision decision = policy.decide("a.evil.example", 443);
    assertThat(decision.allowed()).isFalse();
    assertThat(decision.remedy()).isEmpty();
    assertThat(policy.decide(InetAddress.getByName("192.0.2.1"), 443).allowed()).isFalse();
    assertThat(policy.decide("good.example", 443).allowed()).isTrue();
  }

  @Test
  void operatorAllowsWithoutARuleOfTheSpec() {
    Ceiling ceiling =
        new Ceiling(
            List.of("*.evil.example"),
            List.of("mirror.example", "a.evil.example"),
            List.of(),
            EgressAction.DENY,
            Egress.Limits.NONE);
    EgressPolicy policy = policy(ceiling, Optional.empty(), EgressRule.deny("mirror.example"));

    assertThat(policy.decide("mirror.example", 443).allowed()).isTrue();
    assertThat(policy.decide("a.evil.example", 443).allowed()).isFalse();
  }

  @Test
  void specAllowsNothingOutsideTheLimitOfTheOperator() {
    Ceiling ceiling =
        new Ceiling(
            List.of(),
            List.of(),
            List.of("*.company.example", "pypi.org"),
            EgressAction.DENY,
            Egress.Limits.NONE);
    EgressPolicy policy =
        policy(
            ceiling,
            Optional.of(EgressAction.ALLOW),
            EgressRule.allow("github.com"),
            EgressRule.allow("pypi.org"));

    assertThat(policy.decide("pypi.org", 443).allowed()).isTrue();
    assertThat(policy.decide("a.company.example", 443).allowed()).isTrue();
    assertThat(policy.decide("github.com", 443).allowed()).isFalse();
    assertThat(policy.decide("github.com", 443).remedy()).isEmpty();
  }

  @Test
  void presetsAddTheirRules() {
    Egress egress =
        new Egress(
            Optional.empty(),
            List.of(EgressRule.deny("crates.io")),
            List.of("package-registries"),
            Map.of(),
            List.of(),
            false,
            Egress.Limits.NONE);
    EgressPolicy policy =
        EgressPolicy.of(Network.filtered(egress), Ceiling.NONE, Presets.builtIn());

    assertThat(policy.decide("pypi.org", 443).allowed()).isTrue();
    assertThat(policy.decide("pypi.org", 22).allowed()).isFalse();
    assertThat(policy.decide("crates.io", 443).allowed()).isFalse();
    assertThat(policy.decide("github.com", 443).allowed()).isFalse();
  }

  @Test
  void unknownPresetIsRefused() {
    Egress egress =
        new Egress(
            Optional.empty(),
            List.of(),
            List.of("packages"),
            Map.of(),
            List.of(),
            false,
            Egress.Limits.NONE);

    assertThatThrownBy(
            () -> EgressPolicy.of(Network.filtered(egress), Ceiling.NONE, Presets.builtIn()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("'packages'")
        .hasMessageContaining("package-registries");
  }

  @Test
  void listenersServePortsOfRules() {
    assertThat(policy(ports(EgressRule.allow("example.com"), 7000, 7002)).ports())
        .contains(7000, 7001, 7002, 443, 22);
    assertThat(policy(ports(EgressRule.allow("example.com"), 1, 65_535)).ports()).hasSize(64);
  }
}
