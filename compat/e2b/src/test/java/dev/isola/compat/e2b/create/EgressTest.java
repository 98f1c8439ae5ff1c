package dev.isola.compat.e2b.create;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A1: which of E2B's egress rules are enforced and which are rejected. */
class EgressTest {
  private static final Network NOTHING = Network.of(NetworkMode.NONE);
  private static final E2bRequestBody DENY_ALL =
      new E2bRequestBody(Map.of("denyOut", List.of("0.0.0.0/0")));
  private static final E2bRequestBody DENY_ONE =
      new E2bRequestBody(Map.of("denyOut", List.of("1.1.1.1")));

  @Test
  void withoutRulesTheConfiguredNetworkApplies() {
    Egress egress = Egress.of(new E2bRequestBody(Map.of("allowOut", List.of())), true);
    assertThat(egress.network(NetworkMode.BRIDGE)).isEqualTo(Network.of(NetworkMode.BRIDGE));
    assertThat(egress.network(NetworkMode.NONE)).isEqualTo(Network.DEFAULT);
  }

  @Test
  void denyingEverythingDisablesTheNetwork() {
    assertThat(Egress.of(DENY_ALL, true).network(NetworkMode.BRIDGE)).isEqualTo(NOTHING);
    assertThat(Egress.of(new E2bRequestBody(Map.of()), false).network(NetworkMode.BRIDGE))
        .isEqualTo(NOTHING);
  }

  @Test
  void denyRuleIsEnforcedOnlyWithoutNetwork() {
    assertThat(Egress.of(DENY_ONE, false).network(NetworkMode.BRIDGE)).isEqualTo(NOTHING);
    assertThat(Egress.of(DENY_ONE, true).network(NetworkMode.NONE)).isEqualTo(NOTHING);
    assertThatThrownBy(() -> Egress.of(DENY_ONE, true).network(NetworkMode.BRIDGE))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("denyOut");
  }

  @Test
  void updateIsAcceptedOnlyIfItChangesNothing() {
    E2bRequestBody none = new E2bRequestBody(Map.of());
    E2bRequestBody closed = new E2bRequestBody(Map.of("allow_internet_access", false));
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
  @ValueSource(strings = {"allowOut", "rules", "egressProxy", "dnsServers", "httpsPorts"})
  void unsupportedRulesAreRejected(String name) {
    for (Object said : List.of(List.of("x"), Map.of("x", List.of()))) {
      assertThatThrownBy(() -> Egress.of(new E2bRequestBody(Map.of(name, said)), false))
          .isInstanceOf(Unsupported.class)
          .hasMessageContaining(name);
    }
  }
}
