package dev.isola.engine.egress;

import dev.isola.egress.EgressGate;
import dev.isola.egress.EgressSettings;
import dev.isola.egress.EgressTotals;
import dev.isola.engine.api.EgressReport;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.ResourceLimits;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The connections of one sandbox and the rules that apply to them now. */
final class FilteredSandbox {
  private final EgressGate gate;
  private final EgressEvents events;
  private final SandboxInterception http;
  private volatile Network network;
  private EgressAccess.@Nullable Relay relay;

  /**
   * @param limits those of the spec, of which the bandwidth is held here
   * @param rules what the operator makes of a network
   * @param events creates the observer of this sandbox
   */
  FilteredSandbox(
      Network network,
      ResourceLimits limits,
      EgressRules rules,
      Function<FilteredSandbox, EgressEvents> events,
      Function<FilteredSandbox, SandboxInterception> http) {
    this.network = network;
    this.events = events.apply(this);
    this.http = http.apply(this);
    this.gate =
        new EgressGate(
            rules.settings(network),
            limits.bandwidthBytes(),
            rules.dialer(),
            this.http,
            this.events);
  }

  Network network() {
    return network;
  }

  /** Asks the guest agent for connections, even if it was asked before. */
  synchronized void open(EgressAccess through) {
    EgressAccess.Relay before = relay;
    relay = through.open(http.certificate(), gate.settings().policy().ports(), gate::serve);
    if (before != null) {
      before.close();
    }
  }

  /** Returns whether the guest agent has agreed to pass connections on. */
  synchronized boolean isOpen() {
    return relay != null;
  }

  /** Replaces the rules. */
  synchronized void replace(Network changed, EgressSettings settings, boolean closeExisting) {
    network = changed;
    gate.replace(settings, closeExisting);
    if (relay != null && !relay.servesEveryPort()) {
      relay.setPorts(settings.policy().ports());
    }
  }

  synchronized EgressReport report() {
    EgressSettings settings = gate.settings();
    return new EgressReport(
        network.egress(),
        settings.policy().rules(),
        settings.policy().fallback(),
        relay != null && relay.servesEveryPort(),
        gate.totals(),
        gate.connections(),
        gate.recentConnections(),
        gate.recentDenials());
  }

  EgressTotals totals() {
    return gate.totals();
  }

  /** Appends the events that are due. */
  void flush() {
    events.flush();
  }

  /** Stops accepting connections. */
  synchronized void close() {
    if (relay != null) {
      relay.close();
      relay = null;
    }
    events.close();
  }
}
