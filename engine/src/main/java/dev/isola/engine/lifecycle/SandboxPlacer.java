package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.placement.MachineBalancer;
import dev.isola.engine.placement.PlacementResult;
import dev.isola.engine.placement.SandboxFactory;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.provider.Requirements;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Selects the eligible providers for a request and creates the sandbox at the first one that can.
 *
 * @param statuses returns provider statuses; it may block until its argument accepts them or all
 *     providers have been probed once
 * @param machines spreads sandboxes over the machines of the operator
 * @param images the images that the engine resolves itself
 */
public record SandboxPlacer(
    ProviderSelector selector,
    Function<Predicate<List<ProviderStatus>>, List<ProviderStatus>> statuses,
    Fallback fallback,
    MachineBalancer machines,
    EngineImages images) {

  public Selection select(CreateRequest request) {
    CreateRequest requested = providerRequest(request);
    return selector.select(
        requested, statuses.apply(known -> selector.select(requested, known).best().isPresent()));
  }

  /**
   * Returns the selection for a sandbox that is created now, with the machine that has room first.
   */
  Selection balance(Selection selection) {
    return machines.balance(selection);
  }

  /** Replaces an image that the engine resolves itself by its base image, which providers know. */
  private CreateRequest providerRequest(CreateRequest request) {
    if (!images.handles(request.spec())) {
      return request;
    }
    return request
        .with(images.baseSpec(request.spec()))
        .requiring(Requirements.capabilities(images.requiredCapability(request.spec())));
  }

  PlacementResult place(Selection selection, SandboxFactory factory) {
    return fallback.place(selection, factory);
  }
}
