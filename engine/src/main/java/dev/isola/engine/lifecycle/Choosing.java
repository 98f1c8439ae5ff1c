package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Standing;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.placing.Maker;
import dev.isola.engine.placing.PlacementResult;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.selection.Selector;
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
public record Choosing(
    Selector selector,
    Function<Predicate<List<Standing>>, List<Standing>> standings,
    Fallback fallback,
    Images images) {

  public Selection select(CreateRequest request) {
    CreateRequest asked = onProviders(request);
    return selector.select(
        asked, standings.apply(known -> selector.select(asked, known).best().isPresent()));
  }

  /** What a provider is asked for in place of an image that it does not know. */
  private CreateRequest onProviders(CreateRequest request) {
    if (!images.needed(request.spec())) {
      return request;
    }
    return request
        .with(images.base(request.spec()))
        .requiring(Requirements.capabilities(Snapshotting.class));
  }

  PlacementResult place(Selection selection, Maker maker) {
    return fallback.place(selection, maker);
  }
}
