package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.placement.PlacementResult;
import dev.isola.engine.placement.SandboxFactory;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.provider.Requirements;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Who makes a sandbox: those that may, and of these the first that can.
 *
 * @param standings how providers stand now; while some are asked for the first time it may wait
 *     until that is enough
 * @param images that no provider knows
 */
public record SandboxPlacer(
    ProviderSelector selector,
    Function<Predicate<List<ProviderStatus>>, List<ProviderStatus>> statuses,
    Fallback fallback,
    EngineImages images) {

  public Selection select(CreateRequest request) {
    CreateRequest asked = providerRequest(request);
    return selector.select(
        asked, statuses.apply(known -> selector.select(asked, known).best().isPresent()));
  }

  /** What a provider is asked for in place of an image that it does not know. */
  private CreateRequest providerRequest(CreateRequest request) {
    if (!images.handles(request.spec())) {
      return request;
    }
    return request
        .with(images.baseSpec(request.spec()))
        .requiring(Requirements.capabilities(Snapshotting.class));
  }

  PlacementResult place(Selection selection, SandboxFactory maker) {
    return fallback.place(selection, maker);
  }
}
