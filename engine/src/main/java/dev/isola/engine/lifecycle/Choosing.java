package dev.isola.engine.lifecycle;

import dev.isola.engine.Standing;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.placing.Maker;
import dev.isola.engine.placing.Placement;
import dev.isola.engine.selection.Request;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.selection.Selector;
import java.util.List;
import java.util.function.Supplier;

/**
 * Who makes a sandbox: those that may, and of these the first that can.
 *
 * @param standings how providers stand now
 */
public record Choosing(Selector selector, Supplier<List<Standing>> standings, Fallback fallback) {

  public Selection select(Request request) {
    return selector.select(request, standings.get());
  }

  Placement place(Selection selection, Maker maker) {
    return fallback.place(selection, maker);
  }
}
