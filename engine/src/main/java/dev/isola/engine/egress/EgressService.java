package dev.isola.engine.egress;

import dev.isola.egress.EgressSettings;
import dev.isola.egress.EgressTotals;
import dev.isola.engine.api.EgressReport;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.lifecycle.SandboxNetworks;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Carries the connections of all sandboxes in network mode {@code filtered}. While no server is
 * attached to a sandbox, its guest agent refuses every connection.
 */
public final class EgressService implements SandboxNetworks {
  private final EgressRules rules;
  private final SandboxInterception.Factory interceptions;
  private final EventLog events;
  private final MetricsRecorder metrics;
  private final Map<SandboxId, FilteredSandbox> sandboxes = new ConcurrentHashMap<>();

  public EgressService(
      EgressRules rules,
      SandboxInterception.Factory interceptions,
      EventLog events,
      MetricsRecorder metrics) {
    this.rules = rules;
    this.interceptions = interceptions;
    this.events = events;
    this.metrics = metrics;
  }

  /** Returns the rules of the operator. */
  public EgressRules rules() {
    return rules;
  }

  /** If the sandbox is attached already, its guest agent is asked again. */
  @Override
  public void attach(Sandbox sandbox, SandboxSpec spec, String provider) {
    if (!spec.network().isFiltered()) {
      return;
    }
    EgressAccess access = sandbox.egress().orElseThrow(() -> withoutAccess(sandbox.id(), provider));
    sandboxes.computeIfAbsent(sandbox.id(), id -> filtered(id, spec, provider)).open(access);
  }

  private FilteredSandbox filtered(SandboxId id, SandboxSpec spec, String provider) {
    return new FilteredSandbox(
        spec.network(),
        spec.limits(),
        rules,
        one ->
            new EgressEvents(
                id,
                provider,
                events,
                metrics,
                () -> one.network().egress().logConnections(),
                System::nanoTime),
        one -> interceptions.open(id, one::network));
  }

  @Override
  public void detach(SandboxId id) {
    FilteredSandbox gone = sandboxes.remove(id);
    if (gone != null) {
      gone.close();
    }
  }

  @Override
  public Usage withTraffic(SandboxId id, Usage usage) {
    FilteredSandbox sandbox = sandboxes.get(id);
    if (sandbox == null) {
      return usage;
    }
    EgressTotals totals = sandbox.totals();
    return usage.withTraffic(totals.receivedBytes(), totals.sentBytes());
  }

  /** Returns whether the connections of a sandbox are carried. */
  public boolean isAttached(SandboxId id) {
    FilteredSandbox sandbox = sandboxes.get(id);
    return sandbox != null && sandbox.isOpen();
  }

  /**
   * Replaces the rules of a sandbox.
   *
   * @param settings of {@code network}
   * @param closeExisting whether connections end that the new rules would not allow
   */
  public void replace(
      SandboxId id, Network network, EgressSettings settings, boolean closeExisting) {
    FilteredSandbox sandbox = sandboxes.get(id);
    if (sandbox != null) {
      sandbox.replace(network, settings, closeExisting);
    }
  }

  /** Returns the rules and the traffic of a sandbox; empty if its connections are not carried. */
  public Optional<EgressReport> report(SandboxId id) {
    return Optional.ofNullable(sandboxes.get(id)).map(FilteredSandbox::report);
  }

  /** Appends the events that are due. */
  public void flush() {
    sandboxes.values().forEach(FilteredSandbox::flush);
  }

  private static SandboxException withoutAccess(SandboxId id, String provider) {
    return Fault.of(
            ErrorCode.INTERNAL,
            "provider " + provider + " does not pass on the connections of sandbox " + id,
            "report this as a bug of the provider")
        .sandbox(id)
        .exception();
  }
}
