package dev.isola.engine.egress;

import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.egress.EgressGate;
import dev.isola.egress.EgressObserver;
import dev.isola.egress.http.SandboxAuthority;
import dev.isola.engine.config.Config;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.SandboxSpec;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Carries the connections of one sandbox that has no server, by the rules of the configuration. It
 * has no named secrets, and its certificate authority is not stored.
 */
public final class StandaloneEgress {
  private StandaloneEgress() {}

  /**
   * Carries the connections of a sandbox until the result is closed; empty if its network is not
   * filtered.
   *
   * @param denied is told about denials; must not block
   * @throws dev.isola.spi.error.InvalidRequest if the network names an unknown preset
   */
  public static Optional<EgressAccess.Relay> open(
      Config config, Sandbox sandbox, SandboxSpec spec, Consumer<Denial> denied) {
    Network network = spec.network();
    if (!network.isFiltered()) {
      return Optional.empty();
    }
    EgressRules rules = EgressRules.of(config);
    HttpInterception http =
        new HttpInterception(
            SandboxAuthority.create(sandbox.id().value(), InstantSource.system()),
            () -> network,
            _ -> List.of(),
            HttpGates.of(config));
    EgressGate gate =
        new EgressGate(
            rules.settings(network),
            spec.limits().bandwidthBytes(),
            rules.dialer(),
            http,
            new EgressObserver() {
              @Override
              public void denied(Denial denial) {
                denied.accept(denial);
              }

              @Override
              public void opened(ConnectionView connection) {}

              @Override
              public void closed(ConnectionView connection) {}
            });
    return sandbox
        .egress()
        .map(
            access ->
                access.open(http.certificate(), gate.settings().policy().ports(), gate::serve));
  }
}
