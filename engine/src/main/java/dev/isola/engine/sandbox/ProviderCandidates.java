package dev.isola.engine.sandbox;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.placement.MachineBalancer;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
import java.util.Optional;

/**
 * The eligible providers for a request, as they are now.
 *
 * @param machines spreads sandboxes over the machines of the operator
 */
public record ProviderCandidates(
    ProviderSelector selector,
    HealthMonitor health,
    MachineBalancer machines,
    SnapshotImages images) {

  /** Returns the candidates; waits for the first probes until one of them is suitable. */
  public Selection select(CreateRequest request) {
    CreateRequest requested = withBaseImage(request);
    return selector.select(
        requested,
        health.awaitFirstProbes(known -> selector.select(requested, known).best().isPresent()));
  }

  /** Returns the provider that would be chosen for a request now; empty if none is eligible. */
  public Optional<String> best(CreateRequest request) {
    return select(request).best().map(ProviderInfo::name);
  }

  /**
   * Returns the selection for a sandbox that is created now, with the machine that has room first.
   */
  public Selection balance(Selection selection) {
    return machines.balance(selection);
  }

  /** Replaces a snapshot by its base image, which providers know. */
  private CreateRequest withBaseImage(CreateRequest request) {
    if (!images.handles(request.spec())) {
      return request;
    }
    return request
        .with(images.baseSpec(request.spec()))
        .requiring(Requirements.capabilities(images.requiredCapability(request.spec())));
  }
}
