package dev.isola.engine.lifecycle;

import dev.isola.engine.Standing;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.placing.Maker;
import dev.isola.engine.placing.Placement;
import dev.isola.engine.selection.Request;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.selection.Selector;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.spec.Require;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Who makes a sandbox: those that may, and of these the first that can.
 *
 * @param standings how providers stand now
 * @param images that no provider knows
 */
public record Choosing(
    Selector selector, Supplier<List<Standing>> standings, Fallback fallback, Images images) {

  public Selection select(Request request) {
    return selector.select(onProviders(request), standings.get());
  }

  /** What a provider is asked for in place of an image that it does not know. */
  private Request onProviders(Request request) {
    if (!images.needed(request.spec())) {
      return request;
    }
    Require filling = new Require(Isolation.PROCESS, Set.of(Snapshotting.class), Set.of());
    return request.on(images.base(request.spec())).requiring(filling);
  }

  Placement place(Selection selection, Maker maker) {
    return fallback.place(selection, maker);
  }
}
