package dev.isola.compat.e2b.create;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.EgressValidation;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.PortRange;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A1: which of E2B's egress rules are enforced and which are rejected. */
class E2bEgressTest {
  private static final Network NOTHING = Network.of(NetworkMode.NONE);
  private static final List<String> ALL = List.of("0.0.0.0/0");
  private static final E2bRequestBody DENY_ALL = body(Map.of("denyOut", ALL));
  private static final E2bRequestBody DENY_ONE = body(Map.of("denyOut", List.of("1.1.1.1")));

  private static E2bRequestBody body(Map<String, Object> fields) {
    return new E2bRequestBody(fields);
  }

  private static Network network(E2bRequestBody rules, NetworkMode allowed) {
    return E2bEgress.of(rules, true).network(allowed);
  }

  @Test
  void withoutRulesTheConfiguredNetworkApplies() {
    E2bRequestBody none = body(Map.of("allowOut", List.of()));
    assertThat(network(none, NetworkMode.BRIDGE)).isEqualTo(Network.of(NetworkMode.BRIDGE));
    assertThat(network(none, NetworkMode.NONE)).isEqualTo(Network.DEFAULT);
    Egress open = network(none, NetworkMode.FILTERED).egress();
    assertThat(open.fallback()).contains(EgressAction.ALLOW);
    assertThat(open.rules())
        .containsExactly(EgressRule.allow("0.0.0.0/0"), EgressRule.allow("::/0"));
  }

  @Test
  void denyingEverythingDisablesTheNetwork() {
    assertThat(network(DENY_ALL, NetworkMode.BRIDGE)).isEqualTo(NOTHING);
    assertThat(E2bEgress.of(body(Map.of()), false).network(NetworkMode.BRIDGE)).isEqualTo(NOTHING);
    Network filtered = network(DENY_ALL, NetworkMode.FILTERED);
    assertThat(filtered.isFiltered()).as("an update can open it").isTrue();
    assertThat(filtered.egress().fallback()).contains(EgressAction.DENY);
    assertThat(filtered.egress().rules()).isEmpty();
  }

  @Test
  void singleDeniedAddressIsEnforcedOnlyWithoutNetwork() {
    assertThat(E2bEgress.of(DENY_ONE, false).network(NetworkMode.BRIDGE)).isEqualTo(NOTHING);
    assertThat(network(DENY_ONE, NetworkMode.NONE)).isEqualTo(NOTHING);
    for (NetworkMode mode : List.of(NetworkMode.BRIDGE, NetworkMode.FILTERED)) {
      assertThatThrownBy(() -> network(DENY_ONE, mode))
          .isInstanceOf(Unsupported.class)
          .hasMessageContaining("denyOut");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BRIDGE", "FILTERED", "HOST"})
  void onlyAllowedDestinationsAreReached(NetworkMode mode) {
    E2bRequestBody rules =
        body(
            Map.of(
                "allowOut", List.of("api.example.com", "*.example.org", "192.0.2.0/24"),
                "denyOut", List.of("0.0.0.0/0", "192.0.2.7")));
    Network network = network(rules, mode);
    assertThat(network.isFiltered()).isTrue();
    assertThat(network.egress().fallback()).contains(EgressAction.DENY);
    assertThat(network.egress().rules())
        .as("what is allowed is allowed even if it is denied too")
        .containsExactly(
            EgressRule.allow("api.example.com"),
            EgressRule.allow("*.example.org"),
            EgressRule.allow("192.0.2.0/24"));
    assertThat(EgressValidation.violations("egress", network.egress())).isEmpty();
    E2bRequestBody both = body(Map.of("allowOut", ALL, "denyOut", ALL));
    assertThat(network(both, NetworkMode.FILTERED).egress().fallback())
        .contains(EgressAction.ALLOW);
  }

  @Test
  void rulesSetHeadersOfAllowedHostsOnly() {
    E2bRequestBody rules =
        body(
            Map.of(
                "allowOut", List.of("*.example.com"),
                "denyOut", ALL,
                "rules",
                    Map.of(
                        "api.example.com",
                        List.of(
                            Map.of("transform", Map.of("headers", Map.of("A", "one"))),
                            Map.of(
                                "transform",
                                Map.of("headers", Map.of("A", "Bearer ${e2b.secrets.key}")))),
                        "other.example.org",
                        List.of(Map.of("transform", Map.of("headers", Map.of("A", "b")))))));
    Egress egress = network(rules, NetworkMode.FILTERED).egress();
    HttpRule http =
        new HttpRule(List.of(), Optional.empty(), Map.of(), Map.of("A", "Bearer ${secret.key}"));
    assertThat(egress.rules())
        .containsExactly(
            new EgressRule(
                EgressAction.ALLOW,
                "api.example.com",
                List.of(new PortRange(80, 80), new PortRange(443, 443)),
                List.of(http)),
            EgressRule.allow("*.example.com"));
    assertThat(EgressValidation.violations("egress", egress)).isEmpty();
  }

  @Test
  void updateReplacesTheRulesAndKeepsSecrets() {
    Egress before =
        new Egress(
            Optional.of(EgressAction.DENY),
            List.of(EgressRule.allow("old.example.com")),
            List.of(),
            Map.of("TOKEN", "github"),
            List.of(),
            true,
            Egress.Limits.NONE);
    Egress after =
        mapper(NetworkMode.FILTERED)
            .egress(
                body(Map.of("allowOut", List.of("new.example.com"), "denyOut", ALL)),
                Network.filtered(before));
    assertThat(after.rules()).containsExactly(EgressRule.allow("new.example.com"));
    assertThat(after.secrets()).isEqualTo(before.secrets());
    assertThat(after.logConnections()).isTrue();
    Egress open = mapper(NetworkMode.FILTERED).egress(body(Map.of()), Network.filtered(before));
    assertThat(open.fallback()).contains(EgressAction.ALLOW);
  }

  @Test
  void updateOfAnotherNetworkIsAcceptedOnlyIfItChangesNothing() {
    E2bRequestBody none = body(Map.of());
    E2bRequestBody closed = body(Map.of("allow_internet_access", false));
    Network bridge = Network.of(NetworkMode.BRIDGE);
    CreateRequestMapper offline = mapper(NetworkMode.NONE);
    for (Network current : List.of(NOTHING, Network.DEFAULT)) {
      for (E2bRequestBody rules : List.of(none, closed, DENY_ALL, DENY_ONE)) {
        assertThat(offline.keepsNetwork(rules, current, true)).isTrue();
      }
    }
    assertThat(offline.keepsNetwork(none, Network.DEFAULT, false)).isTrue();
    assertThat(offline.keepsNetwork(closed, Network.DEFAULT, false)).isFalse();
    assertThat(offline.keepsNetwork(none, bridge, true)).isFalse();
    CreateRequestMapper online = mapper(NetworkMode.BRIDGE);
    assertThat(online.keepsNetwork(none, bridge, true)).isTrue();
    assertThat(online.keepsNetwork(closed, bridge, true)).isFalse();
    assertThat(online.keepsNetwork(closed, NOTHING, true)).isTrue();
    assertThat(online.keepsNetwork(none, NOTHING, true)).isFalse();
    assertThatThrownBy(() -> online.keepsNetwork(DENY_ONE, bridge, true))
        .isInstanceOf(Unsupported.class);
  }

  private static CreateRequestMapper mapper(NetworkMode allowed) {
    return new CreateRequestMapper(
        new E2bSettings("test", allowed, Optional.empty(), Optional.empty(), false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"egressProxy", "dnsServers", "httpsPorts"})
  void unsupportedRulesAreRejected(String name) {
    for (Object given : List.of(List.of("x"), Map.of("x", List.of()))) {
      assertThatThrownBy(() -> E2bEgress.of(body(Map.of(name, given)), false))
          .isInstanceOf(Unsupported.class)
          .hasMessageContaining(name);
    }
    assertThat(E2bEgress.of(body(Map.of(name, List.of())), false).deniesAll()).isTrue();
  }

  @Test
  void rulesThatCannotHoldAreRejected() {
    E2bRequestBody named = body(Map.of("allowOut", List.of("a.example"), "denyOut", ALL));
    assertThatThrownBy(() -> network(named, NetworkMode.NONE))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("allowOut");
    for (Map<String, Object> fields :
        List.<Map<String, Object>>of(
            Map.of("allowOut", List.of("a.example")),
            Map.of("denyOut", List.of("a.example")),
            Map.of("allowOut", List.of("not a host"), "denyOut", ALL))) {
      assertThatThrownBy(() -> E2bEgress.of(body(fields), true)).isInstanceOf(InvalidRequest.class);
    }
    for (Map<String, Object> rules :
        List.<Map<String, Object>>of(
            Map.of("192.0.2.1", List.of()),
            Map.of(
                "a.example",
                List.of(
                    Map.of(
                        "transform",
                        Map.of("headers", Map.of("A", "${e2b.identity.tokens.aws}"))))))) {
      assertThatThrownBy(() -> E2bEgress.of(body(Map.of("rules", rules)), true))
          .isInstanceOf(Unsupported.class);
    }
  }
}
